import type { ResourceAddress } from '../core/address.ts';
import { EACH_KEY } from '../core/expression-reads.ts';
import type { Role } from '../core/facet.ts';
import type { ResourceType } from '../providers/contract.ts';
import type { ResourceBlock } from './assemble.ts';
import type { Compiled } from './compile.ts';
import type { LoadContext } from './context.ts';
import { roleOfService } from './release.ts';
import { nodeAt } from './source.ts';

interface RoleQuestion {
  readonly type: ResourceType;
  readonly block: ResourceBlock;
  readonly written: Role | undefined;
  readonly image: readonly (readonly [string, Compiled])[];
  readonly key: string | undefined;
  readonly address: ResourceAddress;
}

/** The role of an instance: as written, else that of the release's entry which its image comes from, else the type's. */
export function roleFor({ type, block, written, image, key, address }: RoleQuestion, context: LoadContext): Role {
  const allowed = [type.role, ...type.roles];
  if (written !== undefined && !allowed.includes(written)) {
    context.report.add(
      {
        code: 'BAD_ROLE',
        summary: 'A resource cannot have this role',
        detail: `${block.type} can be ${allowed.join(' or ')}, not ${written}.`,
        expected: `one of ${allowed.join(', ')}`,
        observed: written,
        address,
      },
      nodeAt(block.node, ['role']),
    );
    return type.role;
  }
  const service = serviceOf(image, key);
  const tied = service === undefined || context.fixed.release === undefined ? undefined : roleOfService(context.fixed.release, service);
  if (tied === undefined || !allowed.includes(tied)) return written ?? type.role;
  if (written !== undefined && written !== tied) {
    context.report.add(
      {
        code: 'ROLE_CONTRADICTION',
        summary: 'A resource and its release disagree about its role',
        detail: `${address} says role: ${written}, while services.${service} of the release is a ${tied}. An entry is a service unless it says role: worker.`,
        expected: tied,
        observed: written,
        address,
      },
      nodeAt(block.node, ['role']),
    );
  }
  return tied;
}

/** The entry of `services` whose image an attribute takes as it is. */
function serviceOf(attributes: readonly (readonly [string, Compiled])[], key: string | undefined): string | undefined {
  for (const [, compiled] of attributes) {
    if (compiled.kind !== 'expression') continue;
    const [read, second] = compiled.expression.reads.filter(({ root }) => root !== 'each');
    if (read === undefined || second !== undefined || read.isOpen || read.root !== 'release' || read.path.length !== 3) continue;
    const [section, name, member] = read.path;
    const isWhole = compiled.expression.text.trim().length === read.end - read.start;
    if (!isWhole || section !== 'services' || member !== 'image') continue;
    return name === EACH_KEY ? key : typeof name === 'string' ? name : undefined;
  }
  return undefined;
}
