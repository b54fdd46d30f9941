import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { editRelease, entryName, findEntry, type ReleaseChange, releaseEntries, splitImage } from '../../../src/spec/release-edit.ts';
import { readReleaseFile } from '../../../src/spec/release-file.ts';
import { line, workbench } from './workbench.ts';

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;

const HEAD = 'apiVersion: accede/v1\nkind: Release\nmetadata: { name: crm, version: "1" }\n';

function documentOf(text: string) {
  const read = readReleaseFile(path.join(workbench({ 'release.yaml': text }), 'release.yaml'));
  if (!read.ok) throw new Error(read.diagnostics.map(line).join('\n'));
  return read.value;
}

type Change = Omit<ReleaseChange, 'entry'>;

/** What stands behind the head after these changes, or the codes of what keeps them from being made. */
function edited(body: string, changes: Readonly<Record<string, Change>>): string | readonly string[] {
  const document = documentOf(HEAD + body);
  const entries = releaseEntries(document);
  const outcome = editRelease(
    document,
    Object.entries(changes).map(([word, change]) => {
      const entry = findEntry(entries, word);
      if (!entry.ok) throw new Error(entry.diagnostics.map(line).join('\n'));
      return { entry: entry.value, ...change };
    }),
  );
  return outcome.ok ? outcome.value.slice(HEAD.length) : outcome.diagnostics.map(({ code }) => code);
}

describe('an edit of a release', () => {
  const next: Change = { repository: 'reg/api', digest: digest('b') };

  it('must change an image where it stands, in the spelling that it has', () => {
    const cases: readonly (readonly [string, Change, string])[] = [
      [`api: { image: reg/api@${digest('a')} } # why`, next, `api: { image: reg/api@${digest('b')} } # why`],
      [
        `api: { image: "reg/api@${digest('a')}", sbom: "${digest('c')}" }`,
        next,
        `api: { image: "reg/api@${digest('b')}", sbom: "${digest('c')}" }`,
      ],
      [`api:\n    image: 'reg/api@${digest('a')}'\n`, next, `api:\n    image: 'reg/api@${digest('b')}'\n`],
      [
        `api: { image: { repository: reg/api, digest: "${digest('a')}" } }`,
        next,
        `api: { image: { repository: reg/api, digest: "${digest('b')}" } }`,
      ],
      [
        `api: { image: { repository: old/api, digest: ${digest('a')}, tag: "3" } }`,
        { ...next, tag: '4' },
        `api: { image: { repository: "reg/api", digest: "${digest('b')}", tag: "4" } }`,
      ],
      [
        `api:\n    # the image\n    image:\n      repository: reg/api # here\n      digest: ${digest('a')} # now\n      # none yet\n    # the end\n`,
        { ...next, tag: '4' },
        `api:\n    # the image\n    image:\n      repository: reg/api # here\n      digest: "${digest('b')}" # now\n      tag: "4"\n      # none yet\n    # the end\n`,
      ],
      [`api: { image: "reg/api@${digest('a')}" }`, { ...next, tag: 'x' }, `api: { image: "reg/api:x@${digest('b')}" }`],
    ];
    for (const [before, change, after] of cases)
      expect(edited(`services:\n  ${before}\n`, { api: change })).toBe(`services:\n  ${after}\n`);
  });

  it('must lock an entry that only has a tag', () => {
    const locked = { repository: 'host:5000/api', digest: digest('b'), tag: 'stable' };
    const after = `image: "host:5000/api:stable@${digest('b')}"`;
    expect(edited('services:\n  api: { image: "host:5000/api:stable" }\n', { api: locked })).toBe(`services:\n  api: { ${after} }\n`);
    expect(edited('services:\n  api:\n    image: { repository: host:5000/api, tag: stable }\n', { api: locked })).toBe(
      `services:\n  api:\n    image: { repository: host:5000/api, tag: stable, digest: "${digest('b')}" }\n`,
    );
    expect(edited('services:\n  api:\n    image:\n      repository: host:5000/api\n      tag: stable # moves\n', { api: locked })).toBe(
      `services:\n  api:\n    image:\n      repository: host:5000/api\n      tag: stable # moves\n      digest: "${digest('b')}"\n`,
    );
  });

  it('must take a tag away that does not say any more what the digest is', () => {
    const braces = (inside: string) => `services:\n  api: { image: { ${inside} } }\n`;
    const at = (digit: string) => `digest: "${digest(digit)}"`;
    expect(edited(braces(`repository: reg/api, ${at('a')}, tag: x`), { api: next })).toBe(braces(`repository: reg/api, ${at('b')}`));
    expect(edited(braces(`tag: x, repository: reg/api, ${at('a')}`), { api: next })).toBe(braces(`repository: reg/api, ${at('b')}`));
    const block = (lines: readonly string[]) => `services:\n  api:\n    image:\n${lines.map((text) => `      ${text}\n`).join('')}`;
    expect(edited(block(['tag: x # old', 'repository: reg/api', at('a')]), { api: next })).toBe(block(['repository: reg/api', at('b')]));
    expect(edited(block(['repository: reg/api', 'tag: x']), { api: next })).toBe(block(['repository: reg/api', at('b')]));
  });

  it('must fill in the source beside the image', () => {
    const source = { repository: 'https://git.example/shop', commit: 'abc' };
    const change = { ...next, source };
    const written = 'source: { repository: "https://git.example/shop", commit: "abc" }';
    expect(edited(`services:\n  api: { image: reg/api@${digest('a')} }\n`, { api: change })).toBe(
      `services:\n  api: { image: reg/api@${digest('b')}, ${written} }\n`,
    );
    expect(edited(`services:\n  api:\n    image: reg/api@${digest('a')} # it\n    sbom: ${digest('c')}`, { api: change })).toBe(
      `services:\n  api:\n    image: reg/api@${digest('b')} # it\n    ${written}\n    sbom: ${digest('c')}`,
    );
    expect(edited(`services:\n  api:\n    image:\n      repository: reg/api\n      digest: ${digest('a')}\n`, { api: change })).toBe(
      `services:\n  api:\n    image:\n      repository: reg/api\n      digest: "${digest('b')}"\n    ${written}\n`,
    );
    expect(edited(`services:\n  api:\n    source: { commit: old, path: api }\n    image: reg/api@${digest('a')}\n`, { api: change })).toBe(
      `services:\n  api:\n    source: { commit: "abc", path: api, repository: "https://git.example/shop" }\n    image: reg/api@${digest('b')}\n`,
    );
  });

  it('must change several entries of several sections at once and leave the others alone', () => {
    const body = `services:\n  api: { image: reg/api@${digest('a')} }\n  mcp: { image: reg/mcp@${digest('a')} }\njobs:\n  api: { image: reg/job@${digest('a')} }\n`;
    expect(edited(body, { 'jobs.api': { ...next, repository: 'reg/job' }, 'services.api': next })).toBe(
      body.replace(`reg/api@${digest('a')}`, `reg/api@${digest('b')}`).replace(`reg/job@${digest('a')}`, `reg/job@${digest('b')}`),
    );
  });

  it('must refuse what would change another entry as well, and change nothing', () => {
    const shared = `services:\n  api: { image: &x "reg/api@${digest('a')}" }\n  mcp: { image: *x }\n`;
    expect(edited(shared, { api: next })).toEqual(['RELEASE_NOT_EDITABLE']);
    expect(edited(shared, { mcp: next })).toEqual(['RELEASE_NOT_EDITABLE']);
  });

  it('must name every other mistake of the document, and change nothing', () => {
    expect(edited(`nonsense: 1\nservices:\n  api: { image: reg/api@${digest('a')} }\n`, { api: next })).toEqual(['UNKNOWN_KEY']);
    expect(edited(`services:\n  api: { image: reg/api:x }\n  mcp: { image: reg/mcp:x }\n`, { api: next })).toHaveLength(1);
  });

  it('must tell an entry that is not there and one that could be two', () => {
    const entries = releaseEntries(documentOf(`${HEAD}services: { api: { image: reg/a:x } }\njobs: { api: { image: reg/b:x } }\n`));
    expect(entries.map(entryName)).toEqual(['services.api', 'jobs.api']);
    expect(findEntry(entries, 'api').diagnostics.map(({ code }) => code)).toEqual(['RELEASE_ENTRY_AMBIGUOUS']);
    expect(findEntry(entries, 'jobs.apii').diagnostics.map(line)).toEqual([expect.stringContaining('Did you mean jobs.api?')]);
  });

  it('must put an id alone in the place of an id alone', () => {
    const built: Change = { repository: undefined, digest: digest('b') };
    expect(edited(`services:\n  api: { image: "${digest('a')}" } # built\n`, { api: built })).toBe(
      `services:\n  api: { image: "${digest('b')}" } # built\n`,
    );
  });

  it('must read the parts of an image', () => {
    const parts = (text: string) => Object.values(splitImage(text)).map((part) => part ?? '-');
    expect(parts(`host:5000/a/b:x@${digest('a')}`)).toEqual(['host:5000/a/b', digest('a'), 'x']);
    expect(parts('host:5000/a/b')).toEqual(['host:5000/a/b', '-', '-']);
    expect(parts('a:1')).toEqual(['a', '-', '1']);
    expect(parts(digest('a'))).toEqual(['-', digest('a'), '-']);
  });
});
