import { z } from 'zod';
import { digestOf } from '../core/canonical.ts';
import { parseDuration } from '../core/duration.ts';
import { encodeValue, type Plain } from '../core/value.ts';
import type { Environment } from '../spec/environment.ts';
import type { Sealed } from '../state/model.ts';

export interface Approver {
  readonly name: string;
  /** As it is written: `ssh-ed25519 …` or `ed25519:…`. */
  readonly key: string;
  /** Classes that the approver may approve; undefined for all. */
  readonly classes: readonly string[] | undefined;
}

/** A time in which nothing is applied: of one year, or of every week. */
export interface FreezeWindow {
  readonly name: string;
  readonly from: string | undefined;
  readonly until: string | undefined;
  readonly weekly: { readonly from: string; readonly until: string; readonly timezone: string } | undefined;
  /** Classes that may be applied all the same; `rollback` stands for going back. */
  readonly except: readonly string[];
}

export interface PolicyRule {
  readonly code: string;
  readonly effect: 'deny' | 'warn';
  /** The expression without `${` and `}`. */
  readonly expression: string;
  readonly message: string;
}

/** Who may do what. Everything that is left out in the documents is empty or undefined here. */
export interface Policy {
  /** Undefined allows every class. */
  readonly allow: readonly string[] | undefined;
  readonly approvals: ReadonlyMap<string, number>;
  readonly approvers: readonly Approver[];
  readonly freeze: readonly FreezeWindow[];
  readonly rules: readonly PolicyRule[];
  /** Milliseconds. */
  readonly planMaxAge: number | undefined;
  /** How many documents of evidence are kept; undefined for all. */
  readonly evidence: number | undefined;
}

const names = z.array(z.string());
/** Loose: what a later version added says nothing to this one, and what the loader lets through has this form. */
const schema = z.looseObject({
  allow: names.optional(),
  approvals: z.record(z.string(), z.number()).optional(),
  approvers: z.array(z.looseObject({ name: z.string(), key: z.string(), classes: names.optional() })).optional(),
  freeze: z
    .array(
      z.looseObject({
        name: z.string(),
        from: z.string().optional(),
        until: z.string().optional(),
        weekly: z.looseObject({ from: z.string(), until: z.string(), timezone: z.string() }).optional(),
        except: names.optional(),
      }),
    )
    .optional(),
  rules: z
    .array(z.looseObject({ code: z.string(), deny: z.string().optional(), warn: z.string().optional(), message: z.string() }))
    .optional(),
  plan_max_age: z.string().optional(),
  retain: z.looseObject({ evidence: z.number().optional() }).optional(),
});

/** Reads a policy block; undefined when it does not have the form of one. */
export function readPolicy(block: Plain): Policy | undefined {
  const parsed = schema.safeParse(block);
  if (!parsed.success) return undefined;
  const { allow, approvals = {}, approvers = [], freeze = [], rules = [], plan_max_age: age, retain } = parsed.data;
  return {
    allow,
    approvals: new Map(Object.entries(approvals)),
    approvers: approvers.map(({ name, key, classes }) => ({ name, key, classes })),
    freeze: freeze.map(({ name, from, until, weekly, except = [] }) => ({ name, from, until, weekly, except })),
    rules: rules.flatMap(({ code, deny, warn, message }): readonly PolicyRule[] => {
      const expression = deny ?? warn;
      return expression === undefined ? [] : [{ code, effect: deny === undefined ? 'warn' : 'deny', expression, message }];
    }),
    planMaxAge: age === undefined ? undefined : parseDuration(age),
    evidence: retain?.evidence,
  };
}

/**
 * The policy that judges a plan: that of the predecessor which is in force, whatever the documents say by now. The first apply is judged by its
 * own. Undefined when what is sealed is no policy that this version can read.
 */
export function policyInForce(sealed: Sealed | null | undefined, environment: Pick<Environment, 'policy'>): Policy | undefined {
  const governance = sealed?.governance ?? { policy: encodeValue(environment.policy, undefined) };
  const block = typeof governance === 'object' && governance !== null && 'policy' in governance ? governance['policy'] : {};
  return readPolicy(block ?? {});
}

/** Whether the documents say anything else of policy, hooks, quiesce and the keys of the release than what is in force. */
export function changesGovernance(
  sealed: Sealed | null | undefined,
  { policy, hooks, quiesce, release }: Pick<Environment, 'policy' | 'hooks' | 'quiesce' | 'release'>,
): boolean {
  const wanted = encodeValue({ policy, hooks, quiesce, trust: release?.trust?.keys ?? null }, undefined);
  return sealed != null && digestOf(members(sealed.governance)) !== digestOf(members(wanted));
}

/** Blocks that are not there are empty: a state that was sealed before one of them existed says the same. */
function members(governance: Plain): Plain {
  const known = typeof governance === 'object' && governance !== null ? (governance as { readonly [name: string]: Plain }) : {};
  return { policy: known['policy'] ?? {}, hooks: known['hooks'] ?? {}, quiesce: known['quiesce'] ?? {}, trust: known['trust'] ?? null };
}
