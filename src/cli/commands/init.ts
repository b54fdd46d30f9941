import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { isPlainName } from '../../core/naming.ts';
import { editorSchema } from '../../spec/jsonschema.ts';
import { parseInitArguments } from '../arguments/init.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { systemRefusal } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { environmentText, firstSetting, SCHEMA_FILE } from '../templates.ts';
import { failWith } from './failing.ts';

/** `init`: writes a small environment that works. Overwrites nothing. */
export async function runInit(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseInitArguments(input);
  const folder = resolve(shell.folder, args.folder);
  const name = isPlainName(basename(folder)) ? basename(folder) : 'my-environment';
  const schema = `${JSON.stringify(editorSchema('environment', shell.registry), null, 2)}\n`;
  const wanted: readonly (readonly [string, string])[] = [
    ['environment.yaml', environmentText(args.template, name)],
    [SCHEMA_FILE, schema],
    ['.gitignore', '.accede/\n'],
    // Files are written into folders that are there.
    ...(args.template === 'quickstart' ? [['out/.gitignore', '*\n!.gitignore\n'] as const] : []),
  ];
  let files = wanted;
  try {
    await mkdir(folder, { recursive: true });
    const present = await readdir(folder);
    // A project has one of its own often, and the environment works without ours.
    files = wanted.filter(([file]) => file !== '.gitignore' || !present.includes(file));
    const taken = files.map(([file]) => file).filter((file) => present.includes(file.split('/', 1)[0] ?? file));
    const other = present.filter((file) => /\.ya?ml$/.test(file) && !taken.includes(file));
    if (taken.length > 0 || other.length > 0) return failWith(shell, [occupied(args.folder, [...taken, ...other].sort())]);
    for (const [file, text] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text, { flag: 'wx', mode: 0o644 });
    }
  } catch (error) {
    return failWith(shell, [systemRefusal(folder, error)]);
  }
  const plan = `accede plan${args.folder === '.' ? '' : ` ${args.folder}`}`;
  const next = [firstSetting(args.template), plan].filter((line) => line !== undefined);
  if (shell.output.json) {
    shell.output.document({
      format: 'accede.init/v1',
      environment: name,
      folder,
      template: args.template,
      files: files.map(([file]) => file),
    });
  } else {
    shell.output.print(
      `Wrote ${files.map(([file]) => join(args.folder, file)).join(', ')}.\n\nNext:\n\n${next.map((line) => `    ${line}`).join('\n')}`,
    );
  }
  return EXIT.done;
}

function occupied(folder: string, files: readonly string[]): Diagnostic {
  return {
    severity: 'error',
    code: 'FOLDER_OCCUPIED',
    summary: 'The folder holds files that are in the way',
    detail: `${folder} holds ${files.join(', ')} already, and nothing is overwritten. Choose another folder.`,
    next: 'accede init another-folder',
  };
}
