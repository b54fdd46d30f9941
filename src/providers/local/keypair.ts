import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { z } from 'zod';
import type { IdSource } from '../../core/clock.ts';
import { randomBytes } from '../../core/random.ts';
import { type Attributes, isAttributes, isList, type Plain, Sensitive, type Value } from '../../core/value.ts';
import type { Operation } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { singleStepEffects } from './single-step.ts';

const schema = z.strictObject({
  algorithm: attribute(z.enum(['ed25519']).optional(), 'What kind of keys. Only ed25519, which is the default.', { facet: 'credential' }),
  generation: attribute(z.int().min(1).optional(), 'Counts the pairs: another number makes a new one. Default 1.', { facet: 'credential' }),
  overlap: attribute(
    z.int().min(0).max(16).optional(),
    'How many former public keys stay in `public_keys`, so that what they signed is taken for a while. Default 1; 0 lets them go.',
    { facet: 'credential' },
  ),
});

/** A pair of signing keys that is made once; the private one is kept encrypted in the state. */
export const keypairType = defineType({
  type: 'local.keypair',
  summary: 'A pair of signing keys, made once, the private one kept encrypted in the state',
  schemaVersion: 1,
  schema,
  traits: {
    private: traitsOf('The private key, PKCS #8 in PEM.', { computed: true, sensitive: true, kept: true, facet: 'credential' }),
    public: traitsOf('The public key as `ed25519:` and its SubjectPublicKeyInfo in base64.', { computed: true, facet: 'credential' }),
    public_pem: traitsOf('The public key, SubjectPublicKeyInfo in PEM.', { computed: true, facet: 'credential' }),
    key_id: traitsOf('The first 16 hexadecimal digits of the SHA-256 of the SubjectPublicKeyInfo.', {
      computed: true,
      facet: 'credential',
    }),
    public_keys: traitsOf('The present public key and the former ones that overlap, newest first: `key_id`, `public`, `generation`.', {
      computed: true,
      facet: 'credential',
    }),
  },
  role: 'credential',
  stage: 'migrate',
  foreignCode: 'KEYPAIR_FOREIGN',
  example: `state: { backend: sqlite, encryption: { key_file: state.key } }
resources:
  local.keypair:
    publisher:
      algorithm: ed25519
      generation: 1
      overlap: 1
outputs:
  trusted: { value: "\${local.keypair.publisher.public_keys}" }
`,
  normalize: (attributes) => ({
    algorithm: attributes['algorithm'] ?? 'ed25519',
    generation: attributes['generation'] ?? 1,
    overlap: attributes['overlap'] ?? 1,
  }),
  identity: (_desired, context) => context.address,
  renews: (paths) =>
    makesNewPair(paths) ? ['private', 'public', 'public_pem', 'key_id', 'public_keys'] : paths.includes('overlap') ? ['public_keys'] : [],
  effects: (change) => singleStepEffects(change, { createFirst: false, undo: true }),
});

function makesNewPair(paths: readonly string[]): boolean {
  return paths.includes('generation') || paths.includes('algorithm');
}

/** A new pair, or with another overlap alone the present one; the former public keys as far as they overlap. */
export function makeKeypair(operation: Operation, ids: IdSource): Attributes {
  const { desired, computed, change, effect } = operation;
  const { generation, overlap } = desired;
  if (typeof generation !== 'number' || typeof overlap !== 'number') throw new Error(`${operation.address} has no normal form`);
  const former = keysIn(computed?.['public_keys']);
  const { private: present } = computed ?? {};
  const keepsPair = effect.object === 'update' && !makesNewPair(change.paths) && typeof present === 'string';
  if (keepsPair) return { ...pairOf(present), public_keys: former.slice(0, 1 + overlap) };
  const pair = newPair(ids);
  const entry = { key_id: pair.key_id, public: pair.public, generation };
  return { ...pair, public_keys: [entry, ...former].slice(0, 1 + overlap) };
}

/** PKCS #8 of an Ed25519 private key is these bytes and the seed (RFC 8410). */
const SEED_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

function newPair(ids: IdSource) {
  const key = createPrivateKey({ key: Buffer.concat([SEED_PREFIX, randomBytes(ids, 32)]), format: 'der', type: 'pkcs8' });
  return pairOf(key.export({ format: 'pem', type: 'pkcs8' }).toString());
}

function pairOf(pem: string) {
  const key = createPublicKey(createPrivateKey(pem));
  const der = key.export({ format: 'der', type: 'spki' });
  return {
    private: Sensitive.open(pem),
    public: `ed25519:${der.toString('base64')}`,
    public_pem: key.export({ format: 'pem', type: 'spki' }).toString(),
    key_id: createHash('sha256').update(der).digest('hex').slice(0, 16),
  };
}

function keysIn(recorded: Plain | undefined): readonly Attributes[] {
  const list: Value = recorded ?? [];
  return isList(list) ? list.filter(isAttributes) : [];
}
