import { parseAddress } from '../../core/address.ts';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { PlanOptions } from '../../plan/model.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags, usageError } from './values.ts';

export const PLAN_FORMATS = ['text', 'json'] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];

/** How a plan is made. */
export interface PlanningArguments extends EnvironmentArguments {
  readonly options: PlanOptions;
  readonly parallelism: number;
}

/** `plan` as it was written. */
export interface PlanArguments extends PlanningArguments {
  readonly out: string | undefined;
  /** What goes where; without a file it goes to stdout, and at most one does. */
  readonly formats: readonly { readonly format: PlanFormat; readonly file: string | undefined }[];
  readonly detailedExitcode: boolean;
  readonly classOnly: boolean;
}

export const DEFAULT_PARALLELISM = 16;

export function parsePlanArguments(input: RawInput): Outcome<PlanArguments> {
  const flags = new Flags(input.options);
  const planning = readPlanningFlags(flags, input.operands[0], { destroy: flags.isSet('destroy') });
  const formats = readFormats(flags);
  const value = {
    ...planning,
    out: flags.text('out'),
    formats,
    detailedExitcode: flags.isSet('detailedExitcode'),
    classOnly: flags.isSet('classOnly'),
  };
  if (value.classOnly && flags.list('format').some((text) => !text.includes('='))) {
    flags.diagnostics.push(conflict('--class-only', '--format without a file'));
  }
  return settle(value, flags.diagnostics);
}

/** The flags that say how to plan, which `plan`, `apply` and `destroy` share. */
export function readPlanningFlags(flags: Flags, folder: string | undefined, fixed: { readonly destroy: boolean }): PlanningArguments {
  const refreshOnly = flags.isSet('refreshOnly');
  const options: PlanOptions = {
    targets: readAddresses(flags, 'target', '--target'),
    excludes: readAddresses(flags, 'exclude', '--exclude'),
    replace: readAddresses(flags, 'replace', '--replace'),
    destroy: fixed.destroy,
    refreshOnly,
    refresh: flags.isOn('refresh'),
    refreshTags: flags.isSet('refreshTags'),
    skipSecrets: flags.text('secrets') === 'skip',
    keepProtected: flags.isSet('keepProtected'),
    includeProtected: flags.isSet('includeProtected'),
    recover: false,
  };
  if (refreshOnly && !options.refresh) flags.diagnostics.push(conflict('--refresh-only', '--no-refresh'));
  if (options.refreshTags && !options.refresh) flags.diagnostics.push(conflict('--refresh-tags', '--no-refresh'));
  if (refreshOnly && options.destroy) flags.diagnostics.push(conflict('--refresh-only', '--destroy'));
  if (options.destroy && options.replace.length > 0) flags.diagnostics.push(conflict('--destroy', '--replace'));
  if (options.keepProtected && options.includeProtected) flags.diagnostics.push(conflict('--keep-protected', '--include-protected'));
  return {
    ...readEnvironmentFlags(flags, folder),
    options,
    parallelism: flags.integer('parallelism', '--parallelism', { least: 1, most: 512, otherwise: DEFAULT_PARALLELISM }),
  };
}

function readAddresses(flags: Flags, name: string, flag: string): readonly string[] {
  const texts = flags.list(name);
  for (const text of texts) {
    if (parseAddress(text) !== undefined) continue;
    flags.diagnostics.push(
      usageError('BAD_ADDRESS', 'A flag takes an address and was given something else', `${flag} was given ${JSON.stringify(text)}.`, {
        expected: 'an address, as docker.container.api or docker.container.worker["bulk"]',
        observed: text,
      }),
    );
  }
  return [...new Set(texts)].sort();
}

function readFormats(flags: Flags): PlanArguments['formats'] {
  const written = flags.list('format').map((text) => {
    const at = text.indexOf('=');
    return at === -1 ? { name: text, file: undefined } : { name: text.slice(0, at), file: text.slice(at + 1) };
  });
  const formats = written.flatMap(({ name, file }) => {
    const format = PLAN_FORMATS.find((known) => known === name);
    if (format !== undefined && file !== '') return [{ format, file }];
    flags.diagnostics.push(
      usageError(
        'BAD_FLAG_VALUE',
        'A flag has a value that it does not take',
        `--format was given ${JSON.stringify(file === '' ? `${name}=` : name)}.`,
        {
          expected: 'text, json, text=FILE or json=FILE',
          observed: file === '' ? `${name}=` : name,
        },
      ),
    );
    return [];
  });
  const onStdout = formats.filter((entry) => entry.file === undefined);
  if (flags.isSet('json')) {
    if (onStdout.some((entry) => entry.format !== 'json')) flags.diagnostics.push(conflict('--json', '--format text'));
    return [{ format: 'json', file: undefined }, ...formats.filter((entry) => entry.file !== undefined)];
  }
  if (onStdout.length > 1) {
    flags.diagnostics.push(
      usageError(
        'FLAGS_CONFLICT',
        'Two flags can not be used together',
        '--format was given twice without a file, and stdout takes one document. Give one of them a file: --format json=plan.json.',
      ),
    );
  }
  return onStdout.length === 0 ? [{ format: 'text', file: undefined }, ...formats] : formats;
}

export function conflict(one: string, other: string): ReturnType<typeof usageError> {
  return usageError(
    'FLAGS_CONFLICT',
    'Two flags can not be used together',
    `${one} and ${other} contradict each other. Leave one of them out.`,
  );
}
