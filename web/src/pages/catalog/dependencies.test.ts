import { expect, test } from 'vitest';
import { edges, picture } from './dependencies.ts';
import type { Entity } from './entity.ts';

const services: Entity[] = [
  { name: 'app', dependencies: { runtime: { requires: ['sql'], uses: ['cache', 'sql'] }, install: { requires: ['gone'] } } },
  { name: 'postgres', dependencies: { provides: ['sql'] } },
  { name: 'mysql', dependencies: { provides: ['sql'] } },
  { name: 'cache' },
];

test('a need leads to whatever meets it', () => {
  expect(edges(services)).toEqual([
    { from: 'app', to: 'postgres', isNeeded: true },
    { from: 'app', to: 'mysql', isNeeded: true },
    { from: 'app', to: 'cache', isNeeded: false },
  ]);
});

test('each service has a place of its own, left of what it needs', () => {
  const { boxes, lines, width } = picture(services);
  const at = (name: string) => boxes.find((box) => box.name === name)!;
  expect(new Set(boxes.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
  expect(at('app').x).toBeLessThan(at('postgres').x);
  expect(lines.every(({ path }) => path.startsWith('M'))).toBe(true);
  expect(width).toBeGreaterThan(300);
});
