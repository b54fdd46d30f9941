import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { causesOf, neighbours, waitsOf } from '../../../src/plan/explain.ts';
import { InstanceIndex } from '../../../src/plan/instances.ts';
import type { ResourceInstance } from '../../../src/spec/environment.ts';
import { desired, Reference } from '../../support/desired.ts';
import { EngineBench } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const shop = (image: string) => [
  desired('fake.image.i', { name: `image-${image}` }, { lifecycle: { createBeforeDestroy: true } }),
  desired('fake.server.a', { image: new Reference('fake.image.i', 'name') }),
  desired('fake.server.b', { image: 'v1' }, { dependsOn: ['fake.server.a'] }),
];

/** Every wait of the plan that goes from one resource to another, with its kind and the kinds of its places. */
async function waits(resources: readonly ResourceInstance[]): Promise<readonly string[]> {
  const { document } = await bench.prepare(resources);
  const index = new InstanceIndex(resources);
  return document.steps.flatMap((step) =>
    waitsOf(document, step, index)
      .filter(({ kind }) => kind !== 'order')
      .map(
        ({ step: other, kind, edges }) =>
          `${step.id} < ${other}: ${kind} ${edges.map((edge) => `${edge.kind} ${edge.path ?? edge.text}`).join(', ')}`,
      ),
  );
}

describe('why a step waits', () => {
  it('must be told for every wait of a plan: by what the documents say, and where they say it', async () => {
    const told = await waits(shop('v1'));
    expect(told).toContain('fake.server.b:create < fake.server.a:ready: needs depends_on fake.server.a');
    expect(told).toContain('fake.server.a:prove < fake.image.i:create: needs reference image');
    expect(told.filter((text) => / {2}| needed-by $/.test(text))).toEqual([]);
  });

  it('must name every resource that stands between', async () => {
    await bench.converge(shop('v1'));
    const { document } = await bench.prepare(shop('v2'));
    const index = new InstanceIndex(shop('v2'));
    for (const step of document.steps) {
      for (const wait of waitsOf(document, step, index)) {
        expect(wait.why).toMatch(/\.$/);
        if (wait.kind !== 'order') expect(wait.edges.length, `${step.id} < ${wait.step}`).toBeGreaterThan(0);
      }
    }
  });

  it('must fall back to the record for what the documents do not hold any more', async () => {
    await bench.converge(shop('v1'));
    const { document } = await bench.prepare([desired('fake.thing.x', {})]);
    const found = document.steps
      .filter(({ address }) => address === 'fake.server.a')
      .flatMap((step) => waitsOf(document, step, new InstanceIndex([])));
    expect(found.filter(({ kind }) => kind === 'needed-by').map(({ why }) => why)).toContain(
      'fake.server.b depended on fake.server.a when it was applied last, so that it has to be through before.',
    );
  });
});

describe('the way back from a change', () => {
  it('must lead through the dependency that pulled it in to what changed first, with its line', async () => {
    await bench.converge(shop('v1'));
    const { document } = await bench.prepare(shop('v2'));
    const links = causesOf(document, 'fake.server.a' as ResourceAddress, new InstanceIndex(shop('v2')));
    expect(links.map(({ address }) => address)).toEqual(['fake.server.a', 'fake.image.i']);
    expect(links[0]?.through.map(({ kind, to, path }) => `${kind} ${to} ${path}`)).toEqual(['reference fake.image.i image']);
    expect(links[1]).toMatchObject({ kind: 'self', through: [], places: [{ path: 'name', source: { line: expect.any(Number) } }] });
  });

  it('must stop at drift, and at what nothing changed', async () => {
    await bench.converge(shop('v1'));
    const { document } = await bench.prepare(shop('v1'));
    expect(causesOf(document, 'fake.server.b' as ResourceAddress, new InstanceIndex(shop('v1')))).toMatchObject([
      { action: 'noop', kind: null },
    ]);
    expect(causesOf(document, 'fake.server.none' as ResourceAddress, new InstanceIndex([]))).toEqual([]);
  });
});

describe('what a resource is tied to', () => {
  it('must be told in both directions', () => {
    const index = new InstanceIndex(shop('v1'));
    expect(neighbours(index, 'fake.server.a' as ResourceAddress)).toEqual({ needs: ['fake.image.i'], neededBy: ['fake.server.b'] });
    expect(neighbours(index, 'fake.server.none' as ResourceAddress)).toEqual({ needs: [], neededBy: [] });
  });
});
