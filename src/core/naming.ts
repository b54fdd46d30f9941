/** A string that must not be mixed with other strings. */
export type Brand<T, Name extends string> = T & { readonly __brand: Name };

const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Instances that a hint lists before the rest is counted. */
const MOST_INSTANCES = 5;

/** The longest environment name, resource name or instance key. Container names are cut at 63 anyway. */
export const NAME_LENGTH = 128;

/** True for what may name an environment, a resource or an instance: letters, digits, `_`, `-`, `.`, not starting with `-` or `.`. */
export function isPlainName(text: string): boolean {
  return text.length <= NAME_LENGTH && PLAIN.test(text);
}

/** The candidate nearest to what was written, for a "Did you mean"; undefined when nothing is near enough to be a slip. */
export function nearMiss(written: string, candidates: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(written.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of [...candidates].sort()) {
    if (Math.abs(candidate.length - written.length) > limit) continue;
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * What an address that fits nothing was probably meant to be, as a sentence with a space before it; empty when nothing is near. The name of a
 * resource with `for_each` means its instances, which another name that is spelled alike does not.
 */
export function addressHint(written: string, candidates: Iterable<string>): string {
  const all = [...candidates].sort();
  const instances = all.filter((candidate) => candidate.startsWith(`${written}[`));
  if (instances.length > 0) {
    const shown = instances.slice(0, MOST_INSTANCES).join(', ');
    return ` It has instances: ${shown}${instances.length > MOST_INSTANCES ? ` and ${instances.length - MOST_INSTANCES} more` : ''}. Name one of them.`;
  }
  const near = nearMiss(written, all);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours count one each. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((last[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
