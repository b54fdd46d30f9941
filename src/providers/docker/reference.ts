/** An image as it is named: by content, by its id, or by a tag that may move. */
export type ImageReference =
  | { readonly kind: 'digest'; readonly repository: string; readonly digest: string }
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'tag'; readonly repository: string; readonly tag: string };

const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** A registry's host is told from a first folder by its dot or port. */
const HOST =
  /^(?:localhost|(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z0-9]+(?:-+[a-z0-9]+)*|[a-z0-9]+(?:-+[a-z0-9]+)*(?=:)|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/;
const PATH = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+|\/)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** Alone it would be taken for the id of an image. */
const BARE_ID = /^[0-9a-f]{64}$/;
const LONGEST_REPOSITORY = 255;

/** Reads `repository@sha256:…`, `repository:tag`, `repository:tag@sha256:…` (the tag then says nothing), `repository` (tag `latest`), or a bare `sha256:…` id. */
export function parseImageReference(text: string): ImageReference | undefined {
  if (DIGEST.test(text)) return { kind: 'id', id: text };
  const [name = '', digest, ...rest] = text.split('@');
  if (rest.length > 0) return undefined;
  const colon = name.lastIndexOf(':');
  const hasTag = colon > name.lastIndexOf('/');
  const repository = canonicalRepository(hasTag ? name.slice(0, colon) : name);
  const tag = hasTag ? name.slice(colon + 1) : 'latest';
  if (!isRepository(repository) || !TAG.test(tag)) return undefined;
  if (digest === undefined) return { kind: 'tag', repository, tag };
  return DIGEST.test(digest) ? { kind: 'digest', repository, digest } : undefined;
}

/** The `repository:tag` of a text that names a digest beside it: what a container was made from when its tag was looked up. */
export function pinnedTag(text: string): string | undefined {
  const [name = '', digest] = text.split('@');
  const tagged = digest === undefined || !/:[^/]+$/.test(name) ? undefined : parseImageReference(name);
  return tagged === undefined ? undefined : formatImageReference(tagged);
}

function isRepository(text: string): boolean {
  if (text.length > LONGEST_REPOSITORY || BARE_ID.test(text)) return false;
  const host = registryHostIn(text);
  if (host === undefined) return PATH.test(text);
  const port = HOST.exec(host);
  if (port === null || (port[1] !== undefined && (Number(port[1]) < 1 || Number(port[1]) > 65_535))) return false;
  return PATH.test(text.slice(host.length + 1));
}

/** The host that a repository begins with; undefined when it is of the default registry. */
export function registryHostIn(repository: string): string | undefined {
  const slash = repository.indexOf('/');
  const first = repository.slice(0, Math.max(slash, 0));
  return first === 'localhost' || /[.:]/.test(first) ? first : undefined;
}

export function formatImageReference(reference: ImageReference): string {
  switch (reference.kind) {
    case 'digest':
      return `${reference.repository}@${reference.digest}`;
    case 'id':
      return reference.id;
    case 'tag':
      return `${reference.repository}:${reference.tag}`;
    default:
      return reference satisfies never;
  }
}

/** A repository as the engine lists it: without the default registry and its default namespace. */
export function canonicalRepository(text: string): string {
  return text.replace(/^(?:index\.)?docker\.io\//, '').replace(/^library\/(?=[^/]+$)/, '');
}

export function isImageDigest(text: string): boolean {
  return DIGEST.test(text);
}
