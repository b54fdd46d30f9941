import { isAbsolute, posix, resolve } from 'node:path';
import { z } from 'zod';
import { type Attributes, Sensitive, type Value } from '../../core/value.ts';
import type { Change, Effect, Problem, TypeContext } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { CONTENT_LIMIT, contentSize, desiredContent, isTooLarge } from './content.ts';
import { singleStepEffects } from './single-step.ts';

export const MODE_ADVICE = 'quoted octal digits such as "0644" (without quotes YAML reads another number)';
const ACCOUNT_ADVICE = 'Write the name of a user or group, or its number.';
export const account = z
  .union([z.string().regex(/^(?:[A-Za-z_][A-Za-z0-9_.-]{0,63}\$?|\d{1,10})$/, ACCOUNT_ADVICE), z.int().min(0).max(4_294_967_294)])
  .optional();

const schema = z.strictObject({
  path: attribute(
    z
      .string()
      .min(1)
      .regex(/^[^\0]*[^\0/]$/, 'Write the path of a file: it does not end with a slash.'),
    'Where the file stands. A relative path starts at the folder of the document.',
    { facet: 'identity', immutable: true },
  ),
  content: attribute(z.string().optional(), 'The text of the file. Either this or `source`.', { facet: 'content', kept: true }),
  source: attribute(z.string().min(1).optional(), 'A file beside the document whose bytes are the content. Either this or `content`.', {
    facet: 'content',
    reads: true,
  }),
  mode: attribute(
    z
      .string({ error: MODE_ADVICE })
      .regex(/^[0-7]{3,4}$/, MODE_ADVICE)
      .optional(),
    'Permission bits in octal, quoted. Default "0644".',
  ),
  owner: attribute(account, 'The user who owns the file, by name or number. Without it the owner is not looked at.'),
  group: attribute(account, 'The group of the file, by name or number. Without it the group is not looked at.'),
  sensitive: attribute(z.boolean().optional(), 'Treats the content as a secret although it was written in the open.', {
    facet: 'annotation',
  }),
});

/** A file with its content, mode and owner. */
export const fileType = defineType({
  type: 'local.file',
  summary: 'A file on this machine, put in place in one step',
  schemaVersion: 1,
  schema,
  traits: {
    content_base64: traitsOf('The content of a file that is not UTF-8, in base64.', { facet: 'content', kept: true }),
  },
  role: 'infrastructure',
  stage: 'migrate',
  foreignCode: 'FILE_FOREIGN',
  example: `resources:
  local.file:
    motd:
      path: out/motd
      content: "hello\\n"
      mode: "0640"
      owner: root
      group: "0"
      sensitive: false
    site:
      path: /etc/app/site.conf
      source: site.conf
`,
  check,
  normalize,
  identity: (desired, context) => (typeof desired['path'] === 'string' ? absolutePath(desired['path'], context.folder) : undefined),
  align,
  effects,
});

/** The path that a normal form's `path` means. */
export function absolutePath(path: string, folder: string): string {
  return resolve(folder, path);
}

/** A mode in normal form: four octal digits. */
export function modeText(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

function check(attributes: Attributes, context: TypeContext): readonly Problem[] {
  const problems: Problem[] = [];
  const report = (code: string, summary: string, detail: string, path: string, expected?: string) =>
    problems.push({ severity: 'error', code, summary, detail, path: [path], ...(expected === undefined ? {} : { expected }) });
  if (attributes['path'] instanceof Sensitive) {
    const detail = `The path of ${context.address} comes from a secret. The path is kept in the state and shown in every plan, so it cannot be one.`;
    report('PATH_SENSITIVE', 'A path cannot be a secret', detail, 'path');
  }
  if (attributes['content'] !== undefined && attributes['source'] !== undefined) {
    const detail = `${context.address} gives its content twice, by \`content\` and by \`source\`. Keep one of them.`;
    report('CONTENT_TWICE', 'The content is given twice', detail, 'source', 'either content or source');
  }
  if (attributes['content'] === undefined && attributes['source'] === undefined) {
    const detail = `${context.address} has neither \`content\` nor \`source\`. Write one of them; an empty file has content: "".`;
    report('CONTENT_MISSING', 'The content is missing', detail, 'path', 'content or source');
  }
  const size = contentSize(desiredContent(attributes));
  if (size !== undefined && size > CONTENT_LIMIT) {
    const detail = `The content of ${context.address} has ${size} bytes. A file may have ${CONTENT_LIMIT} bytes at most, since its content is kept in plan and state.`;
    const path = attributes['content'] === undefined ? 'source' : 'content';
    report('CONTENT_TOO_LARGE', 'The content is too large', detail, path, `${CONTENT_LIMIT} bytes at most`);
  }
  return problems;
}

function normalize(attributes: Attributes): Attributes {
  const { path, mode, owner, group } = attributes;
  const content = desiredContent(attributes);
  return {
    ...(path === undefined ? {} : { path: typeof path === 'string' ? posix.normalize(path) : path }),
    ...(attributes['sensitive'] === true ? sealMembers(content) : content),
    mode: typeof mode === 'string' ? mode.padStart(4, '0') : (mode ?? '0644'),
    ...(owner === undefined ? {} : { owner: accountText(owner) }),
    ...(group === undefined ? {} : { group: accountText(group) }),
  };
}

function sealMembers(content: Attributes): Attributes {
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, Sensitive.open(value)]));
}

/** An account in normal form: text, also where it is a number. */
export function accountText(value: Value): Value {
  return typeof value === 'number' ? String(value) : value;
}

/**
 * A live file without a path stands where it is desired. Owner and group are looked at only when they are desired. Where the desired content
 * is a secret the live one is wrapped too, since it may stand in the other form (text or base64) and would not be recognised there.
 */
function align(desired: Attributes, live: Attributes): Attributes {
  const secret = CONTENT_FORMS.some((name) => desired[name] instanceof Sensitive);
  const aligned: Record<string, Value> = { ...live };
  for (const name of ['owner', 'group']) if (desired[name] === undefined) delete aligned[name];
  if (live['path'] === undefined && desired['path'] !== undefined) aligned['path'] = desired['path'];
  for (const name of CONTENT_FORMS) if (secret && live[name] !== undefined) aligned[name] = Sensitive.open(live[name]);
  return aligned;
}

const CONTENT_FORMS = ['content', 'content_base64'] as const;

/** One path holds one file, so a successor can come first only where its path is surely another one. */
function effects(change: Change): readonly Effect[] {
  const createFirst = change.order === 'create-first' && surelyApart(change.live?.['path'], change.desired?.['path']);
  return singleStepEffects(change, { createFirst, undo: !isTooLarge(change.live?.['content_base64']) });
}

/** Whether two paths surely mean two places: they may mean one when one is absolute and the other is not, or when one leaves the folder that it starts at. */
export function surelyApart(a: Value | undefined, b: Value | undefined): boolean {
  if (typeof a !== 'string' || typeof b !== 'string' || a === b) return false;
  return isAbsolute(a) === isAbsolute(b) && !a.startsWith('..') && !b.startsWith('..');
}
