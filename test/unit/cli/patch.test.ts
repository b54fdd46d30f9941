import { applyPatch, parsePatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileChange } from '../../../src/cli/folder-changes.ts';
import { renderPatch, unpatchable } from '../../../src/cli/views/patch.ts';

function change(before: string | undefined, after: string | undefined, name = 'a.yaml'): FileChange {
  const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text));
  return { name, before: bytes(before), after: bytes(after) };
}

/** What the patch makes of a text. */
function patched(before: string, after: string): string | false {
  const [patch] = parsePatch(renderPatch([change(before, after)]));
  return patch === undefined ? false : applyPatch(before, patch, { fuzzFactor: 0, autoConvertLineEndings: false });
}

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n', 'long line\n', 'no end', '\\ a\n', '-- b\n'), { maxLength: 12 })
  .map((lines) => lines.join(''));

describe('a patch', () => {
  it('must turn one text into the other, whatever their line ends', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        expect(patched(before, after)).toBe(after);
      }),
    );
  });

  it('must replace a file as a whole where the shortest way is too long to look for', () => {
    const lines = (prefix: string) => Array.from({ length: 4_000 }, (_, index) => `${prefix}${index}\n`).join('');
    const [before, after] = [lines('a'), `${lines('b')}end`];
    expect(patched(before, after)).toBe(after);
  });

  it('must make new files and remove others, as git writes it', () => {
    expect(
      renderPatch([change(undefined, 'x\n', 'n w.yaml'), change('y', undefined, 'dir/old.yaml')]),
    ).toBe(`diff --git a/n w.yaml b/n w.yaml
new file mode 100644
--- /dev/null
+++ b/n w.yaml
@@ -0,0 +1,1 @@
+x
diff --git a/dir/old.yaml b/dir/old.yaml
deleted file mode 100644
--- a/dir/old.yaml
+++ /dev/null
@@ -1,1 +0,0 @@
-y
\\ No newline at end of file
`);
  });

  it('must leave out what is no text, and name it', () => {
    const binary: FileChange = { name: 'logo.png', before: undefined, after: Buffer.from([0x89, 0x50, 0xff]) };
    const zero: FileChange = { name: 'zero', before: Buffer.from('a\u0000'), after: Buffer.from('a') };
    expect(renderPatch([binary, zero])).toBe('');
    expect(unpatchable([binary, zero, change('a', 'b')])).toEqual(['logo.png', 'zero']);
  });
});
