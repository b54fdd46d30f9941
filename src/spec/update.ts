import { parseDuration } from '../core/duration.ts';
import type { ResourceBlock } from './assemble.ts';
import type { LoadContext } from './context.ts';
import type { Update } from './environment.ts';
import type { CommonKeys } from './schema-resource.ts';
import { nodeAt } from './source.ts';

/** Whether a replacement makes the new object first. Either key says it; that both agree is tested by `updateOf`. */
export function comesFirst(keys: Pick<CommonKeys, 'update' | 'lifecycle'>): boolean {
  return keys.lifecycle?.create_before_destroy ?? keys.update?.order === 'start-first';
}

/** The `update` key in the engine's terms. What contradicts another key is reported. */
export function updateOf(keys: CommonKeys, block: ResourceBlock, context: LoadContext): Update | undefined {
  const written = keys.update;
  if (written === undefined) return undefined;
  const isFirst = comesFirst(keys);
  const asked = keys.lifecycle?.create_before_destroy;
  if (written.order !== undefined && asked !== undefined && asked !== (written.order === 'start-first')) {
    const meaning = asked ? 'makes the new object first' : 'lets the old object go first';
    contradict(
      ['update', 'order'],
      `update.order: ${written.order} and lifecycle.create_before_destroy: ${String(asked)} of ${block.base} contradict each other: the second ${meaning}. Keep one of them; update.order says both.`,
      `order: ${asked ? 'start-first' : 'stop-first'}, or no create_before_destroy`,
    );
  }
  const drain = milliseconds(written.drain);
  if (drain > 0 && !isFirst && written.order !== 'start-first') {
    contradict(
      ['update', 'drain'],
      `update.drain of ${block.base} lets the old object go on while the new one serves already, but with order: stop-first the old one goes before the new one comes. Write order: start-first, or leave drain out; where defaults give it, write drain: 0s beside update.order.`,
      'order: start-first beside drain',
    );
  }
  return { batch: written.batch ?? 1, pause: milliseconds(written.pause), drain, order: isFirst ? 'start-first' : 'stop-first' };

  function contradict(path: readonly string[], detail: string, expected: string): void {
    const summary = 'Two keys of a resource contradict each other';
    context.report.add({ code: 'UPDATE_CONTRADICTION', summary, detail, expected, address: block.base }, nodeAt(block.node, path));
  }
}

function milliseconds(text: string | undefined): number {
  return text === undefined ? 0 : (parseDuration(text) ?? 0);
}
