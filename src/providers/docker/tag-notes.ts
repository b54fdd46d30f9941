import { isAttributes, isList } from '../../core/value.ts';
import { type Found, type ObjectQuery, type Observed, ProviderError, type ReadIo } from '../contract.ts';
import { FACTS } from './container/live.ts';
import { bareText } from './lift.ts';
import { parseImageReference } from './reference.ts';
import type { World } from './world.ts';

/**
 * Adds to what was read of a container whether its tag means another image by now, when that is asked. A registry that does not answer is a note
 * as well: it says nothing of the container.
 */
export async function withTagNotes(reading: Promise<Observed>, query: ObjectQuery, world: World, io: ReadIo): Promise<Observed> {
  const observed = await reading;
  if (observed.kind !== 'found' || query.refreshTags !== true) return observed;
  const note = await tagNote(observed, world, io);
  return note === undefined ? observed : { ...observed, notes: [...(observed.notes ?? []), note] };
}

async function tagNote(found: Found, world: World, io: ReadIo): Promise<{ readonly code: string; readonly message: string } | undefined> {
  const defaults = found.attributes['_defaults'];
  const facts = isAttributes(defaults) ? defaults[FACTS] : undefined;
  const pin = isAttributes(facts) ? bareText(facts['image_pin']) : undefined;
  const reference = pin === undefined ? undefined : parseImageReference(pin);
  // Without a pin it was not made from a tag, or from an image that no registry has.
  if (!isAttributes(facts) || reference?.kind !== 'tag') return undefined;
  const { repository, tag } = reference;
  try {
    const digest = await world.tagDigest(repository, tag, io);
    const known = (isList(facts['image_digests']) ? facts['image_digests'] : []).map(bareText);
    if (known.includes(`${repository}@${digest}`)) return undefined;
    const message = `The tag ${pin} means ${digest} in its registry now. The container keeps the image that it was made from; to take the new one, write ${pin}@${digest}.`;
    return { code: 'TAG_MOVED', message };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { code: 'TAG_NOT_LOOKED_UP', message: `It cannot be told what the tag ${pin} means now: ${error.message}` };
  }
}
