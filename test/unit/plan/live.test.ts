import { describe, expect, it } from 'vitest';
import { Unknown } from '../../../src/core/value.ts';
import { filledIn } from '../../../src/plan/live.ts';

describe('what was foreseen of an object', () => {
  const open = new Unknown('docker.container.web.published_ports.80/tcp');

  it('must have what it leaves open filled in from the object, member by member', () => {
    const foreseen = { published_ports: { '80/tcp': open, '81/tcp': 8081 }, addresses: open, name: 'web-2' };
    const known = { published_ports: { '80/tcp': 49153, '81/tcp': 9999, '82/tcp': 1 }, addresses: { front: '10.1.0.2' }, name: 'web-1' };
    expect(filledIn(foreseen, known)).toEqual({
      published_ports: { '80/tcp': 49153, '81/tcp': 8081 },
      addresses: { front: '10.1.0.2' },
      name: 'web-2',
    });
  });

  it('must stay open where nothing is known', () => {
    expect(filledIn({ addresses: { back: open } }, { addresses: { front: '10.1.0.2' } })).toEqual({ addresses: { back: open } });
    expect(filledIn({ published_ports: { '80/tcp': open } }, {})).toEqual({ published_ports: { '80/tcp': open } });
  });
});
