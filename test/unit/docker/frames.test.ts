import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Frames } from '../../../src/providers/docker/frames.ts';

function frame(to: 'stdout' | 'stderr', text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.from([to === 'stdout' ? 1 : 2, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

describe('the frames of an engine', () => {
  it('must come apart in the same way wherever the stream is cut', () => {
    const writes = fc.array(fc.tuple(fc.constantFrom('stdout', 'stderr'), fc.string({ maxLength: 40 })), { maxLength: 8 });
    fc.assert(
      fc.property(writes, fc.array(fc.nat(200), { maxLength: 20 }), (written, cuts) => {
        const stream = Buffer.concat(written.map(([to, text]) => frame(to, text)));
        const places = [0, ...cuts.filter((cut) => cut < stream.length).toSorted((a, b) => a - b), stream.length];
        const frames = new Frames(false);
        const pieces = places.slice(1).flatMap((end, index) => frames.take(stream.subarray(places[index], end)));
        for (const wanted of ['stdout', 'stderr'] as const) {
          const seen = Buffer.concat(pieces.filter(({ to }) => to === wanted).map(({ bytes }) => bytes));
          expect(seen).toEqual(Buffer.from(written.flatMap(([to, text]) => (to === wanted ? [text] : [])).join('')));
        }
      }),
    );
  });

  it('must pass on what comes before the rest of a long frame, and a stream of a terminal as it is', () => {
    const frames = new Frames(false);
    expect(frames.take(frame('stderr', 'hello world').subarray(0, 13))).toEqual([{ to: 'stderr', bytes: Buffer.from('hello') }]);
    expect(new Frames(true).take(Buffer.from('\u0001raw'))).toEqual([{ to: 'stdout', bytes: Buffer.from('\u0001raw') }]);
  });
});
