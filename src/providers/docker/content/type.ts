import { z } from 'zod';
import { isAttributes, type Value } from '../../../core/value.ts';
import type { ObjectQuery, Observed } from '../../contract.ts';
import { attribute, defineType, traitsOf } from '../../define.ts';
import { imageProblems } from '../container/check.ts';
import { normalizeImage } from '../container/normal.ts';
import { bareText, compact, liftOptional } from '../lift.ts';
import { findImage } from '../read.ts';
import { parseImageReference } from '../reference.ts';
import { canonicalPath } from '../spelling.ts';
import type { ImageReply } from '../wire.ts';
import type { World } from '../world.ts';

const schema = z.strictObject({
  image: attribute(
    z.string().refine((text) => parseImageReference(text) !== undefined, 'an image such as registry/app@sha256:… or sha256:…'),
    'Image by digest, `repository@sha256:…`, or by its bare id; mostly a reference to a `docker.image`.',
    { facet: 'implementation' },
  ),
  path: attribute(z.string().regex(/^\//, 'an absolute path'), 'File or folder in the image. Symbolic links on the way are not followed.', {
    facet: 'content',
  }),
});

/** `docker.image_content`: what stands at a path of an image. Only read: nothing is made or started for it. */
export const imageContentType = defineType({
  type: 'docker.image_content',
  summary: 'What stands at a path of an image, by digest.',
  schemaVersion: 1,
  schema,
  traits: {
    tree: traitsOf('Digest over the sorted paths, modes and content of what is there.', { computed: true }),
    digest: traitsOf('Digest of the content alone: of the bytes of a file, or of the paths and content below a folder.', {
      computed: true,
    }),
  },
  role: 'infrastructure',
  stage: 'preflight',
  data: true,
  foreignCode: 'IMAGE_FOREIGN',
  example: `resources:
  docker.image:
    web:
      repository: registry.example/shop/web
      digest: sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
  docker.image_content:
    site:
      image: \${docker.image.web.reference}
      path: /usr/share/site
`,
  check: imageProblems,
  normalize: (attributes) =>
    compact({
      image: normalizeImage(attributes['image']),
      path: liftOptional(attributes['path'], (path) => (typeof path === 'string' ? canonicalPath(path) : path)),
    }),
  identity: () => 'content',
  effects: () => [],
});

/** Reads what stands at the path of the query. An image or a path that is not there is absent. */
export async function readContent(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  const desired = query.desired ?? {};
  const path = bareText(desired['path']) ?? '/';
  const image = await imageOf(desired['image'], world, signal);
  if (image === undefined) return { kind: 'absent' };
  const content = await world.imageContent(image.Id, path, signal);
  switch (content.kind) {
    case 'absent':
      return { kind: 'absent' };
    case 'link':
      return {
        kind: 'cannot-see',
        code: 'IMAGE_CONTENT_LINK',
        reason: `${content.path} in the image is a symbolic link to ${content.target}, and links are not followed. Name the path that it leads to.`,
      };
    case 'more':
      throw new Error('hard links were left open');
    case 'found':
      return {
        kind: 'found',
        owner: 'ours',
        ref: `${image.Id}:${path}`,
        attributes: desired,
        computed: { tree: content.tree, digest: content.digest },
      };
    default:
      return content satisfies never;
  }
}

async function imageOf(value: Value | undefined, world: World, signal: AbortSignal): Promise<ImageReply | undefined> {
  if (!isAttributes(value)) return undefined;
  const [id, repository, digest, tag] = ['id', 'repository', 'digest', 'tag'].map((name) => bareText(value[name]));
  if (id !== undefined) return findImage({ digest: id }, world, signal);
  if (repository === undefined) return undefined;
  if (digest !== undefined) return findImage({ repository, digest }, world, signal);
  return tag === undefined ? undefined : world.image(`${repository}:${tag}`, signal);
}
