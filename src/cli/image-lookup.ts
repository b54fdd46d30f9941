import { type Diagnostic, fail, type Outcome, settle } from '../core/diagnostic.ts';
import { nearMiss } from '../core/naming.ts';
import { ProviderError, type ReadIo } from '../providers/contract.ts';
import type { ImageFacts, ImageQuestion } from '../providers/image-seam.ts';
import { defaultRegistry } from '../providers/registry.ts';
import type { ProviderBlock } from '../spec/environment.ts';
import { hostFor } from './compose.ts';
import type { Shell } from './shell.ts';

/**
 * Asks registries about images, through the server of a provider block: the one that is named, else the first that can ask. Where no block is
 * written, one without configuration is meant. Answers in the order of the questions.
 */
export async function lookUpImages(
  questions: readonly ImageQuestion[],
  from: { readonly blocks: readonly ProviderBlock[]; readonly alias: string | undefined },
  shell: Shell,
): Promise<Outcome<readonly ImageFacts[]>> {
  if (questions.length === 0) return settle([], []);
  const chosen = choose(from.blocks, from.alias);
  if (!chosen.ok) return chosen;
  const io: ReadIo = { clock: shell.clock, signal: shell.interrupts.reads, host: hostFor(shell) };
  const opened = await chosen.value.open(io);
  if (opened === undefined) throw new Error('a provider that can look images up was chosen');
  if (!opened.ok) return opened;
  try {
    const diagnostics: Diagnostic[] = [];
    const facts: ImageFacts[] = [];
    for (const question of questions) {
      try {
        facts.push(await opened.value.image(question, io));
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        diagnostics.push(lookUpFailed(error));
      }
    }
    return settle(facts, diagnostics);
  } finally {
    await opened.value.close();
  }
}

function choose(blocks: readonly ProviderBlock[], alias: string | undefined) {
  const registry = defaultRegistry();
  const able = [...registry.providers.values()].filter((provider) => provider.openImages !== undefined);
  const written = blocks.filter((block) => able.some((provider) => provider.name === block.provider));
  const implied = able
    .filter((provider) => !written.some((block) => block.alias === provider.name))
    .map(({ name }) => ({ alias: name, provider: name, config: {} }));
  const candidates = [...written, ...implied];
  const block = alias === undefined ? candidates[0] : candidates.find((candidate) => candidate.alias === alias);
  const provider = block === undefined ? undefined : registry.providers.get(block.provider);
  if (block !== undefined && provider?.openImages !== undefined) {
    return settle({ open: async (io: ReadIo) => await provider.openImages?.(block.config, io) }, []);
  }
  const names = candidates.map((candidate) => candidate.alias);
  const near = alias === undefined ? undefined : nearMiss(alias, names);
  return fail({
    severity: 'error',
    code: 'BAD_FLAG_VALUE',
    summary: 'A flag has a value that it does not take',
    detail: `--provider names no provider block that can ask a registry about images.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    expected: names.join(', '),
    ...(alias === undefined ? {} : { observed: alias }),
  });
}

function lookUpFailed(error: ProviderError): Diagnostic {
  return {
    severity: 'error',
    code: 'IMAGE_LOOKUP_FAILED',
    summary: 'An image cannot be looked up',
    detail: error.message,
    ...(error.next === undefined ? {} : { next: error.next }),
  };
}
