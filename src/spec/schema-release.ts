import { z } from 'zod';
import { isPlainName } from '../core/naming.ts';

const text = () => z.string().min(1);
export const digest = () => z.string().regex(/^sha256:[0-9a-f]{64}$/, 'sha256: and 64 lower-case hexadecimal digits');
const plainName = () => z.string().refine(isPlainName, 'letters, digits, "_", "-" and "."');

const repository = () => z.string().regex(/^[^\s@]+$/, 'a repository without tag and digest');

export const releaseImageSchema = z.union([
  z.string().regex(/^[^\s@]+@sha256:[0-9a-f]{64}$|^sha256:[0-9a-f]{64}$/, 'REPOSITORY@sha256:… or a bare sha256:… id'),
  z.strictObject({
    repository: repository().describe('Where the image is pulled from.'),
    digest: digest().describe('The digest of the image.'),
    tag: text().optional().describe('For people; never used.'),
  }),
]);

const source = z
  .strictObject({
    repository: text().optional().describe('Where the source is.'),
    commit: text().optional().describe('The commit it was built from.'),
    path: text().optional().describe('The folder in the repository.'),
    tree: digest().optional().describe('The digest of the tree.'),
  })
  .describe('Where it was built from.');

const image = releaseImageSchema.describe('REPOSITORY@DIGEST, the bare id of an image that the engine holds, or a map.');

const built = {
  image,
  source: source.optional(),
  sbom: digest().optional().describe('Digest of the bill of materials.'),
  provenance: digest().optional().describe('Digest of the provenance statement.'),
};

const service = z.strictObject({ role: z.enum(['service', 'worker']).optional().describe('service when left out.'), ...built });
const job = z.strictObject(built);
const frontend = z.strictObject({ ...built, routing: z.enum(['path', 'host', 'hash']).optional().describe('How the frontend routes.') });
const catalog = z.strictObject({
  app_id: text().describe('The application.'),
  job: text().optional().describe('The job that publishes it.'),
  release_digest: digest().describe('Digest of the catalog’s release.'),
  metadata: source.optional(),
});
const runtime = z.strictObject({
  generation: text().describe('The generation.'),
  index: z.unknown().optional().describe('Its index.'),
  archive: z.unknown().optional().describe('Its archive.'),
});
const range = z.strictObject({ min: z.number().describe('Smallest value.'), max: z.number().describe('Largest value.') });
const role = z
  .looseObject({
    tunable: z.record(z.string(), range).optional().describe('Values that may change without a new release, with their range.'),
  })
  .describe('What a worker of this role does.');

/** A release: a bill of materials by digest. */
export function releaseSchema(): z.ZodObject {
  return z.strictObject({
    apiVersion: z.literal('accede/v1').describe('The version of the format.'),
    kind: z.literal('Release').describe('This is a release.'),
    metadata: z
      .strictObject({
        name: plainName().describe('The name of the product.'),
        version: z.union([text(), z.number()]).describe('The version of the release.'),
      })
      .describe('What the release is.'),
    services: z.record(plainName(), service).optional().describe('What runs for long, by name.'),
    jobs: z.record(plainName(), job).optional().describe('What runs and ends, by name.'),
    frontends: z.record(plainName(), frontend).optional().describe('What browsers load, by name.'),
    catalogs: z.record(plainName(), catalog).optional().describe('Catalog content, by name.'),
    runtimes: z.record(plainName(), runtime).optional().describe('Runtimes, by family.'),
    roles: z.record(plainName(), role).optional().describe('Roles of workers, by name.'),
  });
}
