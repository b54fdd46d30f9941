import { z } from 'zod';
import { type Attributes, isAttributes, type Value } from '../../core/value.ts';
import type { Problem } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { bareText, compact, liftOptional, memberNames, plainText } from './lift.ts';
import { namedObjectEffects } from './named-object.ts';
import { secretNames } from './network.ts';
import { canonicalRepository, formatImageReference, isImageDigest, parseImageReference } from './reference.ts';
import { splitWords } from './spelling.ts';
import type { ImageReply } from './wire.ts';

const schema = z.strictObject({
  repository: attribute(
    z
      .string()
      .refine(
        (text) => parseImageReference(`${text}:x`)?.kind === 'tag',
        'a repository such as registry.example/shop/api, without tag and digest',
      )
      .optional(),
    'Where it comes from. An image that is loaded from an archive needs none.',
    { facet: 'identity', immutable: true },
  ),
  digest: attribute(
    z.string().refine(isImageDigest, 'sha256: and 64 hexadecimal digits'),
    'Digest of its manifest, or for an archive the id of the image.',
    {
      facet: 'implementation',
      immutable: true,
    },
  ),
  platform: attribute(
    z
      .string()
      .regex(/^[a-z0-9]+\/[a-z0-9_]+(?:\/[a-z0-9.]+)?$/, 'a platform such as linux/amd64')
      .optional(),
    'Platform that it must be for.',
    {
      facet: 'implementation',
      immutable: true,
    },
  ),
  archive: attribute(z.string().min(1).optional(), 'File of `docker save` beside the document to load it from.', {
    facet: 'annotation',
    writeOnly: true,
  }),
  expect: attribute(
    z
      .strictObject({
        revision: attribute(z.string().optional(), 'Value of `org.opencontainers.image.revision`.', { facet: 'implementation' }),
        source: attribute(z.string().optional(), 'Value of `org.opencontainers.image.source`.', { facet: 'implementation' }),
        entrypoint: attribute(z.union([z.string(), z.array(z.string())]).optional(), 'Its entrypoint.', { facet: 'implementation' }),
      })
      .optional(),
    'What it must declare of itself.',
    { facet: 'implementation' },
  ),
});

const WITHOUT_ORIGIN: Problem = {
  severity: 'error',
  code: 'IMAGE_WITHOUT_ORIGIN',
  summary: 'Image without an origin',
  detail: 'An image needs a repository to pull it from, or an archive to load it from.',
  expected: 'repository or archive',
};

/**
 * `docker.image`: an image on the engine, by content. It is shared and bears no mark: one that is there is as good as one that was fetched, and
 * only what this environment fetched, under a tag of its own, is removed again, once nothing uses it.
 */
export const imageType = defineType({
  type: 'docker.image',
  summary: 'An image on the engine, pulled by digest or loaded from an archive.',
  schemaVersion: 1,
  schema,
  traits: {
    id: traitsOf('Id of the image on the engine.', { computed: true }),
    reference: traitsOf('How a container names it: `repository@digest`, or the id.', { computed: true }),
    revision: traitsOf('Revision that it declares.', { computed: true }),
    source: traitsOf('Source that it declares.', { computed: true }),
    _defaults: traitsOf('What the image declares beside what is asked.', { facet: 'annotation' }),
  },
  role: 'infrastructure',
  roleOfUsers: true,
  stage: 'preflight',
  foreignCode: 'IMAGE_FOREIGN',
  example: `resources:
  docker.image:
    api:
      repository: registry.example/shop/api
      digest: sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
      platform: linux/amd64
      archive: images/api.tar
      expect: { revision: 0f3c2d1, source: "https://git.example/shop", entrypoint: [/usr/bin/api] }
`,
  check: (attributes): readonly Problem[] => [
    ...secretNames(attributes),
    ...(attributes['repository'] === undefined && attributes['archive'] === undefined ? [WITHOUT_ORIGIN] : []),
  ],
  normalize: (attributes) =>
    compact({
      repository: liftOptional(attributes['repository'], (text) => (typeof text === 'string' ? canonicalRepository(text) : text)),
      digest: attributes['digest'],
      platform: attributes['platform'],
      archive: attributes['archive'],
      expect: liftOptional(attributes['expect'], (expect) =>
        isAttributes(expect)
          ? compact({
              revision: expect['revision'],
              source: expect['source'],
              entrypoint: liftOptional(expect['entrypoint'], (text) => (typeof text === 'string' ? (splitWords(text) ?? [text]) : text)),
            })
          : expect,
      ),
    }),
  identity: imageIdentity,
  align: alignImage,
  // What was fetched serves nobody by itself, and the next attempt finds it there.
  effects: (change) => namedObjectEffects(change, { stage: 'preflight', direction: 'stays', update: 'verify', independent: true }),
});

function imageIdentity(desired: Attributes): string | undefined {
  const digest = plainText(desired['digest']);
  if (digest === undefined) return undefined;
  if (desired['repository'] === undefined) return digest;
  const repository = plainText(desired['repository']);
  return repository === undefined ? undefined : formatImageReference({ kind: 'digest', repository, digest });
}

/** The platform of an image as `os/architecture[/variant]`. */
export function platformOf(image: ImageReply): string {
  return [image.Os, image.Architecture, ...(image.Variant === '' ? [] : [image.Variant])].join('/');
}

/** What an image declares of itself, in the form of `expect`. */
export function declaredBy(image: ImageReply): {
  readonly revision?: string;
  readonly source?: string;
  readonly entrypoint: readonly string[];
} {
  const labels = image.Config?.Labels ?? {};
  const revision = labels['org.opencontainers.image.revision'];
  const source = labels['org.opencontainers.image.source'];
  return {
    ...(revision === undefined ? {} : { revision }),
    ...(source === undefined ? {} : { source }),
    entrypoint: image.Config?.Entrypoint ?? [],
  };
}

/** Whether an image has this content: its manifest in that repository, or its own id. */
export function hasContent(image: ImageReply, digest: string, repository?: string): boolean {
  if (image.Id === digest) return true;
  return image.RepoDigests.some((text) => {
    const [name = '', found] = text.split('@');
    return found === digest && (repository === undefined || canonicalRepository(name) === repository);
  });
}

/** The normal form of an image that is there, under the name by which it was looked for. */
export function liveImage(image: ImageReply, name: { readonly repository?: string; readonly digest: string }): Attributes {
  return compact({ ...name, _defaults: compact({ platform: platformOf(image), ...declaredBy(image) }) });
}

/** Platform and declarations only as far as the desired form asks for them. */
function alignImage(desired: Attributes, live: Attributes): Attributes {
  const { _defaults: raw, ...own } = live;
  if (!isAttributes(raw)) return live;
  const defaults = raw;
  const asked = memberNames(desired['expect']);
  const platform = bareText(defaults['platform']) ?? '';
  const wanted = bareText(desired['platform']);
  const expect: { [name: string]: Value | undefined } = Object.fromEntries(
    asked.map((name) => [name, defaults[name] ?? (name === 'entrypoint' ? [] : '')]),
  );
  const aligned = compact({
    ...own,
    platform: desired['platform'] === undefined ? undefined : wanted !== undefined && platform.startsWith(`${wanted}/`) ? wanted : platform,
  });
  return asked.length === 0 ? aligned : { ...aligned, expect: expect as Attributes };
}
