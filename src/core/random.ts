import { createHash } from 'node:crypto';
import type { IdSource } from './clock.ts';

/** Random bytes out of ids, so that a test can have them as it likes. Each 32 of them come from three ids, which hold more randomness than that. */
export function randomBytes(ids: IdSource, count: number): Buffer {
  const blocks: Buffer[] = [];
  for (let made = 0; made < count; made += 32) {
    blocks.push(createHash('sha256').update(`${ids.id()}${ids.id()}${ids.id()}`).digest());
  }
  return Buffer.concat(blocks).subarray(0, count);
}
