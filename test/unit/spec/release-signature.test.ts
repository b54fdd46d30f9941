import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sealOf } from '../../../src/apply/seal.ts';
import { storedBundle } from '../../../src/core/bundle.ts';
import { type PrivateKey, parsePrivateKey } from '../../../src/core/ed25519.ts';
import type { Plain } from '../../../src/core/value.ts';
import type { PlanDocument } from '../../../src/plan/model.ts';
import { releaseBytes, signRelease } from '../../../src/spec/release-signature.ts';
import { HEAD, IMAGE, line, load, loaded, workbench } from './workbench.ts';

function newKey(): PrivateKey {
  const parsed = parsePrivateKey(Buffer.from(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })));
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

const ours = newKey();
const other = newKey();
const stranger = newKey();

const DOCUMENT = {
  apiVersion: 'accede/v1',
  kind: 'Release',
  metadata: { name: 'crm', version: '1' },
  services: { api: { image: IMAGE } },
} satisfies Plain;

const YAML = `# what runs
apiVersion: accede/v1
kind: Release
metadata: { name: crm, version: "1" }
services:
  api: { image: "${IMAGE}" } # the api
`;

const environment = (keys: readonly string[], more = '') =>
  `${HEAD}release: { file: release.yaml, signature: release.sig, keys: ${JSON.stringify(keys)}${more} }\n`;

async function mistakes(files: Readonly<Record<string, string | Uint8Array>>): Promise<readonly string[]> {
  const outcome = await load(workbench(files));
  return outcome.diagnostics.map((diagnostic) => line(diagnostic).split(' ').slice(0, 2).join(' '));
}

describe('a signed release', () => {
  const files = { 'environment.yaml': environment([other.publicKey.text, ours.publicKey.text]), 'release.yaml': YAML };

  it('must be taken when any of the keys signed it, in every form of a signature', async () => {
    const raw = sign(null, releaseBytes(DOCUMENT), ours.key);
    for (const signature of [signRelease(DOCUMENT, ours), raw, `${raw.toString('base64')}\n`]) {
      const { release } = await loaded({ ...files, 'release.sig': signature });
      expect(release?.trust?.signer).toBe(ours.publicKey.fingerprint);
      expect(release?.trust?.keys).toEqual([ours.publicKey.fingerprint, other.publicKey.fingerprint].sort());
    }
    const second = await loaded({ ...files, 'release.sig': signRelease(DOCUMENT, other) });
    expect(second.release?.trust?.signer).toBe(other.publicKey.fingerprint);
  });

  it('must hold over comments, order and spelling, which say nothing', async () => {
    const respelled = `kind: Release\napiVersion: "accede/v1"\nservices:\n  api:\n    image: ${IMAGE}\nmetadata:\n  version: "1"\n  name: crm\n`;
    const { release } = await loaded({ ...files, 'release.yaml': respelled, 'release.sig': signRelease(DOCUMENT, ours) });
    expect(release?.trust?.signer).toBe(ours.publicKey.fingerprint);
  });

  it('must be refused with a code of its own for each way in which it is not signed', async () => {
    const good = signRelease(DOCUMENT, ours);
    const altered = YAML.replace('version: "1"', 'version: "2"');
    const parsed = JSON.parse(good) as { readonly signature: string };
    const forged = good.replace(parsed.signature, sign(null, Buffer.from('x'), ours.key).toString('base64'));
    const raw = sign(null, releaseBytes(DOCUMENT), stranger.key);
    const cases: readonly (readonly [Readonly<Record<string, string | Uint8Array>>, string])[] = [
      [{}, 'environment.yaml:4:43 RELEASE_SIGNATURE_MISSING'],
      [{ 'release.sig': good, 'release.yaml': altered }, 'environment.yaml:4:43 RELEASE_ALTERED'],
      [{ 'release.sig': forged }, 'environment.yaml:4:43 RELEASE_ALTERED'],
      [{ 'release.sig': signRelease(DOCUMENT, stranger) }, 'environment.yaml:4:43 RELEASE_KEY_UNTRUSTED'],
      [{ 'release.sig': raw }, 'environment.yaml:4:43 RELEASE_SIGNATURE_WRONG'],
      [{ 'release.sig': '' }, 'environment.yaml:4:43 RELEASE_SIGNATURE_MALFORMED'],
      [{ 'release.sig': good.slice(0, -10) }, 'environment.yaml:4:43 RELEASE_SIGNATURE_MALFORMED'],
      [{ 'release.sig': good.replace('accede.signature/v1', 'accede.signature/v2') }, 'environment.yaml:4:43 RELEASE_SIGNATURE_MALFORMED'],
      [{ 'release.sig': Buffer.alloc(5000, 65) }, 'environment.yaml:4:43 FILE_TOO_LARGE'],
    ];
    for (const [changed, expected] of cases) expect(await mistakes({ ...files, ...changed }), expected).toEqual([expected]);
  });

  it('must never be taken after any byte of its content was altered', async () => {
    const signature = signRelease(DOCUMENT, ours);
    const at = YAML.indexOf('sha256:') + 'sha256:'.length;
    for (const offset of [0, 31, 63]) {
      const digit = YAML[at + offset] === '0' ? '1' : '0';
      const changed = YAML.slice(0, at + offset) + digit + YAML.slice(at + offset + 1);
      expect(await mistakes({ ...files, 'release.yaml': changed, 'release.sig': signature })).toEqual([
        'environment.yaml:4:43 RELEASE_ALTERED',
      ]);
    }
  });

  it('must refuse half of what it takes, keys that are none, and expressions', async () => {
    const key = ours.publicKey.text;
    const given = { 'release.yaml': YAML, 'release.sig': signRelease(DOCUMENT, ours) };
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [`release: { file: release.yaml, signature: release.sig }`, ['environment.yaml:4:32 RELEASE_TRUST_INCOMPLETE']],
      [`release: { file: release.yaml, keys: ["${key}"] }`, ['environment.yaml:4:32 RELEASE_TRUST_INCOMPLETE']],
      [
        `release: { file: release.yaml, signature: release.sig, keys: ["${key}", nonsense] }`,
        [`environment.yaml:4:${67 + key.length} RELEASE_KEY_INVALID`],
      ],
      [
        `release: { file: release.yaml, signature: "\${metadata.name}.sig", keys: ["${key}"] }`,
        ['environment.yaml:4:43 EXPRESSION_NOT_ALLOWED'],
      ],
      [
        `release: { file: release.yaml, signature: release.sig, keys: ["\${metadata.name}"] }`,
        ['environment.yaml:4:63 EXPRESSION_NOT_ALLOWED'],
      ],
      [`release: { file: release.yaml, signature: release.sig, keys: [] }`, ['environment.yaml:4:62 BAD_VALUE']],
    ];
    for (const [text, expected] of cases)
      expect(await mistakes({ ...given, 'environment.yaml': `${HEAD}${text}\n` }), text).toEqual(expected);
  });

  it('must be kept in canonical form, and whom it is trusted from belongs to what is in force', async () => {
    const signed = await loaded({ ...files, 'release.sig': signRelease(DOCUMENT, ours) });
    const bundle = signed.bundle?.();
    const kept = bundle === undefined ? undefined : storedBundle(bundle).get(signed.release?.digest ?? bundle.digest);
    expect(kept).toBe(JSON.stringify({ text: releaseBytes(DOCUMENT).toString() }));
    expect(bundle?.manifest.files.map(({ path, kind }) => `${path} ${kind}`)).toContain('release.sig kept');
    const options = { destroy: false, keepProtected: false, targets: [], excludes: [], refreshOnly: false };
    const plan = { inputs: { options, commit: null } } as unknown as PlanDocument;
    const sealed = sealOf(signed, plan, { serial: 1, key: Buffer.alloc(32), bundle });
    expect(sealed?.governance).toMatchObject({
      trust: [ours.publicKey.fingerprint, other.publicKey.fingerprint].sort(),
      release: DOCUMENT,
    });
  });

  it('must count whom it is trusted from and not which of them signed', async () => {
    const one = await loaded({ ...files, 'release.sig': signRelease(DOCUMENT, ours) });
    const two = await loaded({ ...files, 'release.sig': signRelease(DOCUMENT, other) });
    const fewer = await loaded({
      ...files,
      'environment.yaml': environment([ours.publicKey.text]),
      'release.sig': signRelease(DOCUMENT, ours),
    });
    expect(two.sourceDigest).toBe(one.sourceDigest);
    expect(fewer.sourceDigest).not.toBe(one.sourceDigest);
  });
});
