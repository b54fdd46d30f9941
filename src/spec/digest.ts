import { compareText } from '../core/address.ts';
import { canonicalText, type Digest, digestOf } from '../core/canonical.ts';
import type { Plain } from '../core/value.ts';
import { type Assembled, LIST_SECTIONS, NAMED_SECTIONS } from './assemble.ts';
import type { Release } from './release.ts';
import { plainOf, type YamlNode } from './source.ts';

/**
 * The digest of what the documents say once they are one: file names, the order of files and keys, comments and spelling stand outside.
 * Secrets are in it by name and source alone, variables by what the documents say of them.
 */
export function digestSource(
  assembled: Assembled,
  name: string,
  release: Pick<Release, 'digest' | 'trust'> | undefined,
  files: readonly Plain[],
): Digest {
  const named = Object.fromEntries(
    NAMED_SECTIONS.map((section) => [
      section,
      Object.fromEntries([...assembled.named[section]].map(([key, { node }]) => [key, plain(node)])),
    ]),
  );
  const resources = Object.fromEntries([...assembled.resources].map(([base, { node }]) => [base, plain(node)]));
  // The lists come from several documents, whose order is that of their names.
  const lists = Object.fromEntries(
    LIST_SECTIONS.map((section) => [
      section,
      assembled.lists[section].map(({ node }) => plain(node)).sort((a, b) => compareText(canonicalText(a), canonicalText(b))),
    ]),
  );
  const { state, policy, hooks, quiesce } = assembled.single;
  const single = Object.fromEntries(
    Object.entries({ state, policy, hooks, quiesce }).flatMap(([key, node]) => (node === undefined ? [] : [[key, plain(node)]])),
  );
  // Who is trusted counts, not which of them signed.
  const trust = release?.trust === undefined ? {} : { releaseKeys: release.trust.keys };
  return digestOf({
    format: 'accede.source/v1',
    name,
    ...named,
    resources,
    ...lists,
    ...single,
    release: release?.digest ?? null,
    ...trust,
    files,
  });
}

function plain(node: YamlNode): Plain {
  return plainOf(node) as Plain;
}
