import type { Role } from '../core/facet.ts';
import type { Assessed } from './assess.ts';

/** The role of a resource: as the documents choose it, else as it was recorded, else that of its type. */
export function roleOf(assessed: Pick<Assessed, 'instance' | 'recorded' | 'type'>): Role {
  return assessed.instance?.role ?? (assessed.recorded?.row.role as Role | undefined) ?? assessed.type.role;
}
