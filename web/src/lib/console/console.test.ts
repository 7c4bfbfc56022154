import { expect, test } from 'vitest';
import { bars, busiest, clusterOf, duration, kept, nameOf, type Actor } from './message.ts';

const actor = (path: string, parent: string | null = null): Actor => ({ path, parent }) as Actor;

test('times have few digits', () => {
  expect([0, 999, 1500, 2_500_000].map(duration)).toEqual(['0 µs', '999 µs', '1.5 ms', '2.5 s']);
});

test('a node is called without its cluster, and both belong to it', () => {
  expect(nameOf(actor('/clusters/1/nodes/a', '/clusters/1'))).toBe('/nodes/a');
  expect(nameOf(actor('/registry'))).toBe('/registry');
  expect(nameOf({ ...actor('/clusters/1'), name: 'shop' })).toBe('shop 1');
  expect(nameOf({ ...actor('/clusters/1/nodes/a', '/clusters/1'), name: 'shop-1000.lab' })).toBe('shop-1000.lab');
  expect(['/clusters/12/nodes/a', '/clusters/12', '/registry'].map(clusterOf)).toEqual(['12', '12', undefined]);
});

test('the newest messages are kept', () => {
  expect(kept([1, 2, 3], [4, 5], 3)).toEqual([3, 4, 5]);
});

test('steps without any have no bar, and the longest is whole', () => {
  expect(bars([{ belowUs: 1, count: 0 }, { belowUs: 2, count: 4 }, { belowUs: 4, count: 1 }])).toEqual([
    { belowUs: 2, count: 4, part: 1 },
    { belowUs: 4, count: 1, part: 0.25 },
  ]);
  expect(bars([])).toEqual([]);
});

test('whose messages wait comes first, and who rests not at all', () => {
  const at = (path: string, state: string, waiting: number, busy: number) => ({ path, state, waiting, busy, perSecond: 0 }) as Actor;
  const found = busiest([at('a', 'running', 0, 0.1), at('b', 'passivated', 0, 0), at('c', 'running', 3, 0), at('d', 'running', 0, 0.9)]);
  expect(found.map((one) => one.path)).toEqual(['c', 'd', 'a']);
});
