import { createHash } from 'node:crypto';
import type { TypeContext } from '../contract.ts';

const LENGTH = 63;

/** The name that an object gets when the YAML gives none: `<environment>-<name>[-<key>]`, fit for the engine and for DNS lengths. */
export function defaultName(context: TypeContext): string {
  return fitName([context.environment, context.name, ...(context.key === undefined ? [] : [context.key])].join('-'));
}

/** Makes text a name that the engine accepts. What is too long is cut and ends in a hash of the whole, so that two long names stay two. */
export function fitName(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_.-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  const name = safe.length < 2 ? `${safe}-0` : safe;
  if (name.length <= LENGTH) return name;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${name.slice(0, LENGTH - 9)}-${hash}`;
}

/** The name of a predecessor that stepped aside. It is the same on every try, so that a broken-off change finds its own work again. */
export function asideName(name: string, ref: string): string {
  return withSuffix(name, asideSuffix(ref));
}

/** The name of a job's container whose failure was told: it stays for reading, and the job counts as not run. */
export function failedName(name: string, ref: string): string {
  return withSuffix(name, failedSuffix(ref));
}

/** Whether a container has such a name. */
export function isFailedName(name: string, ref: string): boolean {
  return name.endsWith(failedSuffix(ref));
}

/** Whether a container has the name of a predecessor that stepped aside. */
export function isAsideName(name: string, ref: string): boolean {
  return name.endsWith(asideSuffix(ref));
}

/** Whether a container is what an earlier run left: it failed, or stepped aside. */
export function isLeftName(name: string, ref: string): boolean {
  return isFailedName(name, ref) || isAsideName(name, ref);
}

function asideSuffix(ref: string): string {
  return `-aside-${ref.slice(0, 12)}`;
}

function failedSuffix(ref: string): string {
  return `-failed-${ref.slice(0, 12)}`;
}

function withSuffix(name: string, suffix: string): string {
  return `${name.slice(0, LENGTH - suffix.length)}${suffix}`;
}

/** The names under which others on a network find a container: as with Compose, its own in the YAML. */
export function networkAliases(context: TypeContext): readonly string[] {
  return context.key === undefined ? [context.name] : [context.name, `${context.name}-${context.key}`];
}
