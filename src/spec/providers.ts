import { z } from 'zod';
import { isPlainName, nearMiss } from '../core/naming.ts';
import type { Attributes } from '../core/value.ts';
import type { Provider, Registry } from '../providers/contract.ts';
import { checkValue } from '../providers/validate.ts';
import type { Block } from './assemble.ts';
import type { ProviderBlock } from './environment.ts';
import { refuse } from './not-available.ts';
import type { Report } from './report.ts';
import { nodeAt, nodeRange, problemPlace } from './source.ts';
import type { Workspace } from './workspace.ts';

/** `name` or `name:alias`; undefined when it is neither. */
function parseAlias(text: string): { readonly provider: string; readonly alias: string | undefined } | undefined {
  const colon = text.indexOf(':');
  if (colon === -1) return { provider: text, alias: undefined };
  const alias = text.slice(colon + 1);
  return isPlainName(alias) ? { provider: text.slice(0, colon), alias } : undefined;
}

/** The provider blocks by alias. `evaluate` fills in a block's expressions. */
export function loadProviders(
  blocks: ReadonlyMap<string, Block>,
  registry: Registry,
  evaluate: (block: Block) => Attributes,
  report: Report,
): ReadonlyMap<string, ProviderBlock> {
  const loaded = new Map<string, ProviderBlock>();
  for (const [name, block] of blocks) {
    const parsed = parseAlias(name);
    const provider = parsed === undefined ? undefined : registry.providers.get(parsed.provider);
    if (parsed === undefined || provider === undefined) {
      const near = parsed === undefined ? undefined : nearMiss(parsed.provider, registry.providers.keys());
      report.add(
        {
          code: 'UNKNOWN_PROVIDER',
          summary: 'A provider does not exist',
          detail:
            parsed === undefined
              ? `${name} is no name of a provider block. An alias has letters, digits, _, - and .`
              : `There is no provider ${parsed.provider}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
          expected: `one of ${[...registry.providers.keys()].join(', ')}, or one of them with :ALIAS`,
          observed: name,
        },
        block.key,
      );
      continue;
    }
    const config = evaluate(block);
    const isElsewhere = isHostBound(provider) && isRemote(config, /^ssh:/);
    for (const problem of checkValue(provider.config, config)) {
      // That this host cannot be had is said below, and is one mistake.
      if (isElsewhere && problem.path[0] === 'host') continue;
      report.addProblem(problem, problem.code === 'MISSING_KEY' && problem.path.length < 2 ? block.key : problemPlace(block.node, problem));
    }
    if (isElsewhere) refuse(report, 'Acting on another host is not available yet; leave host out.', 'host', nodeAt(block.node, ['host']));
    loaded.set(name, { alias: name, provider: provider.name, config, folder: block.document.file.folder, source: nodeRange(block.key) });
  }
  return loaded;
}

/** The block that a resource uses; one without configuration is implied. Mistakes are reported by the caller's place. */
export function impliedBlock(provider: Provider, workspace: Workspace, report: Report, place: Parameters<Report['add']>[1]): ProviderBlock {
  for (const problem of checkValue(provider.config, {})) {
    report.addProblem(
      {
        ...problem,
        code: 'PROVIDER_NOT_CONFIGURED',
        summary: 'A provider needs configuration',
        detail: `The provider ${provider.name} is used without a block in providers:, and needs one. ${problem.detail}`,
      },
      place ?? NOWHERE(workspace),
    );
  }
  return { alias: provider.name, provider: provider.name, config: {}, folder: workspace.folder };
}

function NOWHERE(workspace: Workspace) {
  return { file: workspace.folder, line: 1, column: 1, endLine: 1, endColumn: 1 };
}

/** Whether a provider acts on a host's files and programs: its configuration says where that is, and can say that here is meant. */
function isHostBound(provider: Provider): boolean {
  return provider.config instanceof z.ZodObject && 'here' in provider.config.shape;
}

function isRemote(config: Attributes, scheme: RegExp): boolean {
  const host = config['host'];
  return typeof host === 'string' && scheme.test(host);
}

/** A server elsewhere beside a provider that acts on this machine is most likely a mistake: it has to be affirmed. */
export function checkHosts(blocks: readonly ProviderBlock[], registry: Registry, report: Report): void {
  const remote = blocks.find((block) => {
    const provider = registry.providers.get(block.provider);
    return provider !== undefined && !isHostBound(provider) && isRemote(block.config, /^(?:ssh|tcp):/);
  });
  if (remote === undefined) return;
  for (const block of blocks) {
    const provider = registry.providers.get(block.provider);
    if (provider === undefined || !isHostBound(provider) || block.config['here'] === true || isRemote(block.config, /^ssh:/)) continue;
    report.add(
      {
        code: 'HOST_MISMATCH',
        summary: 'Providers act on different hosts',
        detail: `${remote.alias} speaks to another host, while ${block.alias} acts on this machine. If that is meant, say here: true in the block of ${block.alias}.`,
        expected: 'here: true',
      },
      block.source ?? remote.source,
    );
  }
}
