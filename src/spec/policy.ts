import { parsePublicKey } from '../core/ed25519.ts';
import { compileRule } from '../core/expression-rule.ts';
import { splitInterpolation } from '../core/expression-text.ts';
import { needsAllowance } from '../core/successor-class.ts';
import { type Attributes, isAttributes, isList, type Value } from '../core/value.ts';
import { checkValue } from '../providers/validate.ts';
import { evaluateCompiled } from './compile.ts';
import type { LoadContext } from './context.ts';
import { policySchema } from './schema-blocks.ts';
import {
  memberOf,
  nodeAt,
  nodeRange,
  problemPlace,
  rangeOf,
  type ScalarNode,
  type SourceFile,
  scalarOffset,
  type YamlNode,
} from './source.ts';

const EFFECTS = ['deny', 'warn'] as const;

/**
 * The `policy` block, evaluated and checked; empty when it is not there or has a mistake. The expressions of rules are not evaluated here: they
 * are checked and kept as text, since they judge plans which are not there yet.
 */
export function loadPolicy(node: YamlNode | undefined, file: SourceFile, context: LoadContext): Attributes {
  if (node === undefined) return {};
  const { rest, rules } = takeRules(node);
  const evaluated = evaluateCompiled(context.compile(rest, 'block'), context.scope(file), (found) => context.report.take(...found));
  if (typeof evaluated === 'symbol' || !isAttributes(evaluated)) return {};
  const value = withRules(evaluated, rules, context);
  const problems = checkValue(policySchema, value);
  for (const problem of problems) context.report.addProblem(problem, problemPlace(node, problem));
  if (problems.length > 0) return {};
  for (const mistake of [...mistakesOfApprovals(value), ...mistakesOfFreeze(value)]) {
    const { path, ...rest } = mistake;
    context.report.add(rest, nodeRange(nodeAt(node, path)));
  }
  return value;
}

interface RuleText {
  readonly index: number;
  readonly effect: (typeof EFFECTS)[number];
  readonly node: YamlNode;
}

/** The block without the expressions of its rules, and these. */
function takeRules(node: YamlNode): { readonly rest: YamlNode; readonly rules: readonly RuleText[] } {
  const list = memberOf(node, 'rules');
  if (node.kind !== 'map' || list?.kind !== 'list') return { rest: node, rules: [] };
  const rules: RuleText[] = [];
  const items = list.items.map((item, index): YamlNode => {
    if (item.kind !== 'map') return item;
    const entries = new Map(item.entries);
    for (const effect of EFFECTS) {
      const entry = entries.get(effect);
      if (entry === undefined) continue;
      rules.push({ index, effect, node: entry.value });
      entries.delete(effect);
    }
    return { ...item, entries };
  });
  const entry = node.entries.get('rules');
  if (entry === undefined) return { rest: node, rules };
  return { rest: { ...node, entries: new Map([...node.entries, ['rules', { ...entry, value: { ...list, items } }]]) }, rules };
}

function withRules(value: Attributes, texts: readonly RuleText[], context: LoadContext): Attributes {
  const rules = value['rules'];
  if (!isList(rules) || texts.length === 0) return value;
  const added = new Map<number, { [name: string]: Value }>();
  for (const { index, effect, node } of texts) {
    const text = ruleText(node, context);
    if (text !== undefined) added.set(index, { ...added.get(index), [effect]: text });
  }
  return { ...value, rules: rules.map((rule, index) => (isAttributes(rule) ? { ...rule, ...added.get(index) } : rule)) };
}

/** The expression of a rule as text. What is no expression stays as it is, so that the schema or this says so. */
function ruleText(node: YamlNode, context: LoadContext): Value | undefined {
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return node.kind === 'scalar' ? node.value : null;
  const split = splitInterpolation(node.value);
  const [only, ...more] = 'parts' in split ? split.parts : [];
  if (only?.kind !== 'expression' || more.length > 0) {
    context.report.add(
      {
        code: 'BAD_RULE',
        summary: 'A rule is no expression',
        detail: 'What a rule denies or warns of is one expression over plan, and nothing beside it.',
        expected: '\'${plan.changes.exists(c, c.action == "delete")}\'',
      },
      node,
    );
    return node.value;
  }
  const compiled = compileRule(only.text, (offset) => placeIn(node, only.offset + offset));
  context.report.take(...compiled.diagnostics);
  return only.text;
}

function placeIn(node: ScalarNode, offset: number) {
  const from = scalarOffset(node, offset);
  return rangeOf(node.file, from, from + 1);
}

interface Mistake {
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly severity?: 'error' | 'warning';
  readonly expected?: string;
  readonly observed?: string;
  readonly path: readonly (string | number)[];
}

const membersOf = (value: Value | undefined): Attributes => (value !== undefined && isAttributes(value) ? value : {});
const textsOf = (value: Value | undefined): readonly string[] | undefined =>
  value !== undefined && isList(value) ? value.filter((item) => typeof item === 'string') : undefined;
const listOf = (value: Value | undefined): readonly Attributes[] =>
  value !== undefined && isList(value) ? value.map((item) => membersOf(item)) : [];

/** Keys that are none, classes that nobody could approve, and what would have no effect or keep everybody out for good. */
function mistakesOfApprovals(policy: Attributes): readonly Mistake[] {
  const found: Mistake[] = [];
  const approvers = listOf(policy['approvers']).map(({ name, key, classes }, index) => {
    const parsed = parsePublicKey(typeof key === 'string' ? key : '');
    if (!parsed.ok) {
      found.push({
        code: 'APPROVER_KEY_INVALID',
        summary: 'The key of an approver is none',
        detail: `The key of ${String(name)} cannot be read. ${parsed.reason}`,
        expected: 'ssh-ed25519 … as in a .pub file, or ed25519:…',
        path: ['approvers', index, 'key'],
      });
    }
    return { name: String(name), key: parsed.ok ? parsed.key.fingerprint : '', classes: textsOf(classes) };
  });
  const allow = textsOf(policy['allow']);
  for (const [name, needed] of Object.entries(membersOf(policy['approvals']))) {
    const able = approvers.filter(({ classes }) => classes === undefined || classes.includes(name));
    const distinct = Math.min(new Set(able.map((each) => each.name)).size, new Set(able.map((each) => each.key)).size);
    const path = ['approvals', name];
    if (typeof needed === 'number' && needed > distinct) {
      found.push({
        code: 'APPROVERS_TOO_FEW',
        summary: 'A class needs more approvals than there are approvers',
        detail: `The class ${name} needs ${needed} approvals, and ${distinct} approvers with a key of their own may give one. No such plan could be applied, and once this policy is in force it may not be possible to change it.`,
        expected: `${needed} approvers for ${name}, or a lower number`,
        observed: String(distinct),
        path,
      });
    }
    if (allow !== undefined && !allow.includes(name) && needsAllowance(name) && !(name === 'policy-change' && needed === 0)) {
      found.push({
        severity: 'warning',
        code: 'APPROVALS_UNUSED',
        summary: 'Approvals are asked of a class that is not allowed',
        detail: `allow does not hold ${name}, so that no plan of this class is ever applied, approved or not.`,
        path,
      });
    }
  }
  if (allow !== undefined && !allow.includes('policy-change')) {
    found.push({
      severity: 'warning',
      code: 'POLICY_FINAL',
      summary: 'The policy could not be changed any more',
      detail:
        'allow does not hold policy-change. Once this policy is in force, no later commit can change policy, hooks, quiesce or what is protected.',
      path: ['allow'],
    });
  }
  return found;
}

/** Windows that never are, that nobody can tell the end of, or in a time zone that does not exist. */
function mistakesOfFreeze(policy: Attributes): readonly Mistake[] {
  return listOf(policy['freeze']).flatMap((window, index): readonly Mistake[] => {
    const { name, from, until, weekly } = window;
    const mistake = (detail: string, ...path: readonly string[]): readonly Mistake[] => [
      { code: 'BAD_FREEZE', summary: 'A freeze window cannot be used', detail, path: ['freeze', index, ...path] },
    ];
    const hasDates = from !== undefined || until !== undefined;
    if (hasDates === (weekly !== undefined)) {
      return mistake(`The window ${String(name)} needs from and until, or weekly; one of the two.`);
    }
    if (weekly === undefined) {
      if (typeof from !== 'string' || typeof until !== 'string') return mistake(`The window ${String(name)} needs both from and until.`);
      return Date.parse(from) < Date.parse(until) ? [] : mistake(`The window ${String(name)} ends before it begins.`, 'until');
    }
    const zone = membersOf(weekly)['timezone'];
    if (typeof zone === 'string' && isTimeZone(zone)) return [];
    return mistake(`${String(zone)} is no time zone that is known here; one such as Europe/Berlin is expected.`, 'weekly', 'timezone');
  });
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}
