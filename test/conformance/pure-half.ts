import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatPath } from '../../src/core/path.ts';
import { type Attributes, containsSensitive, isAttributes, isList, Sensitive, Unknown, type Value } from '../../src/core/value.ts';
import type { Change, ResourceType } from '../../src/providers/contract.ts';
import { traitsAt } from '../../src/providers/define.ts';
import { differences } from './differences.ts';
import type { Driver } from './driver.ts';
import { caseOf, type Given, NAME } from './given.ts';
import { replacedLeaves } from './leaves.ts';

const CANARY = 'canary-7f3b';

/** What the half that judges has to show, without any target. */
export function pureHalf(name: string, given: Given): void {
  it('must describe every attribute and every path of its normal forms', () => {
    const { workspace, driver } = given();
    const type = driver.type(name);
    for (const [path, traits] of type.traits) expect(traits.description.length, path).toBeGreaterThan(5);
    const { sample, others = [] } = caseOf(workspace, name);
    for (const attributes of [sample, ...others]) {
      const valid = type.schema.safeParse(attributes);
      expect(valid.success, JSON.stringify(valid.error?.issues)).toBe(true);
      expect(type.check?.(attributes, driver.context(name, NAME)) ?? []).toEqual([]);
      const normal = driver.normal(name, NAME, attributes);
      for (const path of pathsOf(normal)) expect(() => traitsAt(type, path), path).not.toThrow();
      for (const path of pathsOf(type.foresee?.(normal, driver.context(name, NAME)) ?? {})) {
        expect(traitsAt(type, path).computed, path).toBe(true);
      }
    }
  });

  it('must refuse unknown attributes', () => {
    const { workspace, driver } = given();
    expect(driver.type(name).schema.safeParse({ ...caseOf(workspace, name).sample, no_such_attribute: 1 }).success).toBe(false);
  });

  it('must have an example that parses, uses the type and fits its schema', () => {
    const type = given().driver.type(name);
    const document = parse(type.example) as { readonly resources?: { readonly [type: string]: { readonly [name: string]: unknown } } };
    const resources = Object.values(document.resources?.[name] ?? {});
    expect(resources.length).toBeGreaterThan(0);
    for (const attributes of resources) {
      if (JSON.stringify(attributes).includes('${')) continue;
      const valid = type.schema.safeParse(attributes);
      expect(valid.success, JSON.stringify(valid.error?.issues)).toBe(true);
    }
  });

  it('must normalise the same input to the same form, whatever the order of its keys', () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    const form = driver.normal(name, NAME, sample);
    expect(driver.normal(name, NAME, sample)).toEqual(form);
    expect(driver.normal(name, NAME, reversed(sample) as Attributes)).toEqual(form);
    expect(differences(driver.type(name), form, form)).toEqual([]);
  });

  it('must take an unknown value at every leaf', () => {
    const { workspace, driver } = given();
    for (const { path, attributes } of replacedLeaves(caseOf(workspace, name).sample, () => new Unknown('other.id'))) {
      expect(() => judge(driver, name, attributes), path).not.toThrow();
    }
  });

  it('must take a secret at every leaf without uncovering it', () => {
    const { workspace, driver } = given();
    for (const secret of [CANARY, undefined]) {
      for (const { path, attributes } of replacedLeaves(caseOf(workspace, name).sample, (leaf) => Sensitive.open(secret ?? leaf))) {
        const judged = judge(driver, name, attributes);
        if (secret !== undefined) expect(JSON.stringify(judged), path).not.toContain(secret);
        else expect(containsSensitive(judged.normal) || judged.problems.length > 0 || isHint(driver, name, path), path).toBe(true);
      }
    }
  });

  it('must name the effects of every action once, in stages that exist, and end what an earlier run left', () => {
    const { workspace, driver } = given();
    const type = driver.type(name);
    const normal = driver.normal(name, NAME, caseOf(workspace, name).sample);
    for (const change of everyChange(type, normal)) {
      const effects = type.effects(change);
      const what = `${change.action} ${change.order}`;
      expect(new Set(effects.map((effect) => effect.name)).size, what).toBe(effects.length);
      const objects = effects.map((effect) => effect.object);
      expect(objects.includes('create'), what).toBe(change.action === 'create' || change.action === 'replace');
      if (change.action === 'delete') expect(objects, what).toContain('remove');
      if (change.action === 'update') expect(objects, what).toContain('update');
      if (change.action === 'replace') {
        // The record holds one present object: its predecessor is removed or steps aside before the successor is made.
        const room = objects.findIndex((object) => object === 'remove' || object === 'depose');
        expect(room, what).toBeGreaterThanOrEqual(0);
        expect(room, what).toBeLessThan(objects.indexOf('create'));
        if (objects.includes('depose')) expect(objects.indexOf('retire'), what).toBeGreaterThan(objects.indexOf('create'));
      }
      if (change.deposed) expect(objects, what).toContain('retire');
      if (change.action !== 'delete') continue;
      for (const effect of effects) expect(effect.part, effect.name).not.toBe('apply');
    }
  });
}

/** Everything that plan asks of the pure half. */
function judge(driver: Driver, name: string, attributes: Attributes) {
  const type = driver.type(name);
  const context = driver.context(name, NAME);
  const normal = type.normalize(attributes, context);
  return {
    problems: type.check?.(attributes, context) ?? [],
    normal,
    identity: type.identity(normal, context),
    foreseen: type.foresee?.(normal, context) ?? {},
    effects: everyChange(type, normal).map((change) => type.effects(change)),
    aligned: type.align?.(normal, normal) ?? normal,
  };
}

function everyChange(type: ResourceType, normal: Attributes): readonly Change[] {
  const paths = [...type.traits.keys()];
  const actions = ['create', 'update', 'replace', 'start', 'delete'] as const;
  return actions.flatMap((action) =>
    (['destroy-first', 'create-first'] as const).flatMap((order) =>
      [true, false].map((deposed) => ({
        action,
        order,
        deposed,
        paths: action === 'update' || action === 'replace' ? paths : [],
        ...(action === 'delete' ? {} : { desired: normal }),
        ...(action === 'create' ? {} : { live: normal }),
      })),
    ),
  );
}

/** An annotation may steer the normal form without standing in it. */
function isHint(driver: Driver, name: string, path: string): boolean {
  return traitsAt(driver.type(name), path).facet === 'annotation';
}

function reversed(value: Value): Value {
  if (!isAttributes(value)) return isList(value) ? value.map(reversed) : value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reversed(item)]),
  );
}

/** Paths of all members at every depth. */
function pathsOf(value: Value, at: readonly (string | number)[] = []): readonly string[] {
  const own = at.length === 0 ? [] : [formatPath(at)];
  if (isList(value)) return [...own, ...value.flatMap((item, index) => pathsOf(item, [...at, index]))];
  if (isAttributes(value)) return [...own, ...Object.entries(value).flatMap(([name, item]) => pathsOf(item, [...at, name]))];
  return own;
}
