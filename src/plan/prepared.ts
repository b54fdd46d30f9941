import type { ResourceAddress } from '../core/address.ts';
import type { ResourceLookup } from '../core/template.ts';
import type { Attributes } from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import type { Effect, Observed, ResourceType, TypeContext } from '../providers/contract.ts';
import type { ResourceInstance } from '../spec/environment.ts';
import type { ResourceRow, StepRow } from '../state/model.ts';
import type { EnvironmentWork } from './environment-steps.ts';
import type { Masks } from './live.ts';
import type { PlanDocument, PlannedChange } from './model.ts';

/** The document, and beside it what apply needs and a file must not hold: templates, open secrets, what was observed. */
export interface PreparedPlan {
  readonly document: PlanDocument;
  /** By address, those that do something; `noop` ones are left out. */
  readonly work: ReadonlyMap<ResourceAddress, PreparedChange>;
  /** Steps of the environment itself with what they do. */
  readonly environmentWork: readonly EnvironmentWork[];
  /** What expressions saw of the resources when the plan was made. */
  readonly lookup: ResourceLookup;
  /** What opens the secrets that the state keeps; undefined when it keeps none. */
  readonly vault: Vault | undefined;
}

export interface PreparedChange {
  readonly planned: PlannedChange;
  readonly type: ResourceType;
  readonly context: TypeContext;
  /** Undefined when the documents do not hold the resource any more. */
  readonly instance: ResourceInstance | undefined;
  readonly row: ResourceRow | undefined;
  /** The row only stands for what the mark of the object tells. */
  readonly byMark?: boolean;
  readonly observed: Observed;
  /** Desired normal form as far as it is known at plan; secrets open. */
  readonly desired: Attributes | undefined;
  /** What tells secrets in what is read of the object. */
  readonly masks: Masks;
  readonly unsettled: readonly StepRow[];
  /** Whether the object is to be protected from now on. */
  readonly protected: boolean;
  readonly effects: readonly Effect[];
  /** Addresses that this resource needs, for its record. */
  readonly needs: readonly ResourceAddress[];
}
