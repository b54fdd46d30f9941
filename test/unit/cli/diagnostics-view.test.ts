import { describe, expect, it } from 'vitest';
import { errorDocument, renderDiagnostics } from '../../../src/cli/views/diagnostics.ts';
import { type Sink, styleFor } from '../../../src/cli/views/terminal.ts';
import type { Diagnostic } from '../../../src/core/diagnostic.ts';

const style = styleFor({ write: () => true }, {}, { color: false });

const unknownKey: Diagnostic = {
  severity: 'error',
  code: 'UNKNOWN_KEY',
  summary: 'A key is not known',
  detail:
    'docker.container.api has no attribute "imgae". Did you mean "image"? Everything that an attribute may be called stands in the reference page of the type.',
  address: 'docker.container.api',
  source: { file: 'environment.yaml', line: 12, column: 7, endLine: 12, endColumn: 12, excerpt: '      imgae: crm/api' },
  expected: 'image',
  observed: 'imgae',
  next: 'accede schema environment',
};
const warning: Diagnostic = {
  severity: 'warning',
  code: 'STATE_DEPENDENCY',
  summary: 'A dependency is gone',
  detail: 'It counts no more.',
  address: 'a.b.c',
};

describe('diagnostics as text', () => {
  it('must show place, excerpt with the range underlined, expectation and the next command, sorted, with counts', () => {
    const other: Diagnostic = {
      ...unknownKey,
      source: { ...unknownKey.source!, file: 'a.yaml', line: 2, endLine: 3, endColumn: 1, excerpt: '\tx: |' },
    };
    expect(renderDiagnostics([unknownKey, other, warning], style)).toMatchInlineSnapshot(`
      "warning[STATE_DEPENDENCY] A dependency is gone
        at a.b.c
        It counts no more.

      error[UNKNOWN_KEY] A key is not known
        at a.yaml:2:7
          │
        2 │  x: |
          │       ^
        docker.container.api has no attribute "imgae". Did you mean "image"? Everything that an attribute
        may be called stands in the reference page of the type.
        expected  image
        observed  imgae

          accede schema environment

      error[UNKNOWN_KEY] A key is not known
        at environment.yaml:12:7
           │
        12 │       imgae: crm/api
           │       ^~~~~
        docker.container.api has no attribute "imgae". Did you mean "image"? Everything that an attribute
        may be called stands in the reference page of the type.
        expected  image
        observed  imgae

          accede schema environment

      2 errors, 1 warning.
      "
    `);
  });

  it('must show a long line around the place that is meant', () => {
    const excerpt = `${'a'.repeat(500)}HERE${'b'.repeat(500)}`;
    const text = renderDiagnostics(
      [{ ...unknownKey, source: { file: 'f.yaml', line: 1, column: 501, endLine: 1, endColumn: 505, excerpt } }],
      style,
    );
    const [, line = '', caret = ''] = /│ (.*HERE.*)\n.*│ ( *\^~*)/.exec(text) ?? [];
    expect(line.length).toBeLessThanOrEqual(style.width);
    expect(line.indexOf('HERE')).toBe(caret.indexOf('^'));
    expect(caret.trim()).toBe('^~~~');
  });

  it('must print nothing for nothing', () => {
    expect(renderDiagnostics([], style)).toBe('');
  });
});

describe('diagnostics as JSON', () => {
  it('must be one error document, with all of them when there are several', () => {
    expect(errorDocument([warning, unknownKey])).toMatchObject({
      error: { code: 'UNKNOWN_KEY' },
      diagnostics: [{ code: 'STATE_DEPENDENCY' }, { code: 'UNKNOWN_KEY' }],
    });
    expect(errorDocument([unknownKey])).not.toHaveProperty('diagnostics');
    expect(errorDocument([unknownKey]).error).not.toHaveProperty('severity');
  });
});

describe('colour and width', () => {
  const terminal: Sink = { isTTY: true, columns: 300, write: () => true };
  it.each([
    ['no terminal', { write: () => true }, {}, undefined, 0],
    ['a terminal', terminal, {}, undefined, 2],
    ['a dumb terminal', terminal, { TERM: 'dumb' }, undefined, 0],
    ['NO_COLOR', terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }, undefined, 0],
    ['an empty NO_COLOR', terminal, { NO_COLOR: '' }, undefined, 2],
    ['FORCE_COLOR without a terminal', { write: () => true }, { FORCE_COLOR: '1' }, undefined, 1],
    ['FORCE_COLOR=0', terminal, { FORCE_COLOR: '0' }, undefined, 0],
    ['--no-color', terminal, { FORCE_COLOR: '3' }, false, 0],
  ] as const)('must have the right level: %s', (_name, stream, environment, color, level) => {
    expect(styleFor(stream, environment, { color }).color.level).toBe(level);
  });

  it('must keep the width between 80 and 160, and 100 without a terminal', () => {
    expect(styleFor(terminal, {}, { color: undefined }).width).toBe(160);
    expect(styleFor({ ...terminal, columns: 20 }, {}, { color: undefined }).width).toBe(80);
    expect(style.width).toBe(100);
  });

  it('must not draw a live view in CI or on a dumb terminal', () => {
    expect(styleFor(terminal, {}, { color: undefined }).interactive).toBe(true);
    expect(styleFor(terminal, { CI: 'true' }, { color: undefined }).interactive).toBe(false);
    expect(styleFor(terminal, { TERM: 'dumb' }, { color: undefined }).interactive).toBe(false);
  });
});
