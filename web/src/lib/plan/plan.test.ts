import { expect, test } from 'vitest';
import { BOX, byKind, picture, stateOf } from './graph.ts';
import { ending, fitted } from './names.ts';
import { workOfNodes } from './node_work.ts';
import { scale } from './scale.ts';
import { expected, extent, pieces, planned, ranks } from './schedule.ts';
import { steered, stop } from './steer.ts';
import { groupNodes, type Step } from './step.ts';
import { waitsOf } from './waits.ts';

const step = (id: string, node: string, after: string[], estimate: number, more: Partial<Step> = {}): Step => ({
  id, name: id.toUpperCase(), service: '', node, after, estimate, state: 'waiting', attempts: [], isCritical: false, straggles: false, waits: [], ...more,
});

test('a rank is the longest way to the end', () => {
  const found = ranks([step('a', 'n', [], 10), step('b', 'n', ['a'], 5), step('c', 'm', ['a'], 20), step('d', 'm', ['b', 'c'], 1)]);
  expect([...found].sort()).toEqual([['a', 31], ['b', 6], ['c', 21], ['d', 1]]);
});

test('one node does one thing at a time, the longest way first', () => {
  const spans = planned([step('a', 'n', [], 10), step('b', 'n', [], 30), step('c', 'm', ['b'], 100)], 1000);
  expect(spans.get('b')).toEqual({ from: 1000, to: 1030 });
  expect(spans.get('a')).toEqual({ from: 1030, to: 1040 });
  expect(spans.get('c')).toEqual({ from: 1030, to: 1130 });
  expect(extent(spans.values())).toEqual({ from: 1000, to: 1130 });
});

test('what was is as it was, and what comes begins now at the earliest', () => {
  const spans = expected([
    step('a', 'n', [], 10, { state: 'done', begun: 0, ended: 40 }),
    step('b', 'n', ['a'], 20, { state: 'running', begun: 50 }),
    step('c', 'n', ['a'], 20),
    step('d', 'm', ['a'], 20),
  ], 200);
  expect(spans.get('a')).toEqual({ from: 0, to: 40 });
  expect(spans.get('b')).toEqual({ from: 50, to: 200 });
  expect(spans.get('c')).toEqual({ from: 200, to: 220 });
  expect(spans.get('d')).toEqual({ from: 200, to: 220 });
});

test('a task that was tried again leaves its node to others between its attempts', () => {
  const attempts = [{ from: 0, to: 10 }, { from: 50, to: 60 }];
  const failed = step('a', 'n', [], 20, { state: 'failed', begun: 0, ended: 60, attempts });
  expect(pieces(failed, expected([failed], 100).get('a')!)).toEqual([
    { from: 0, to: 10, isVain: true, isFuture: false },
    { from: 50, to: 60, isVain: false, isFuture: false },
  ]);
  const running = step('a', 'n', [], 20, { state: 'running', begun: 0, attempts: [{ from: 0, to: 10 }, { from: 50 }] });
  expect(expected([running], 55).get('a')).toEqual({ from: 0, to: 70 });
  const pausing = step('a', 'n', [], 20, { state: 'waiting', begun: 0, attempts: attempts.slice(0, 1) });
  expect(pieces(pausing, expected([pausing], 30).get('a')!)).toEqual([
    { from: 0, to: 10, isVain: true, isFuture: false },
    { from: 30, to: 50, isVain: false, isFuture: true },
  ]);
});

test('a plan of many thousand steps is foreseen, too', () => {
  const steps = Array.from({ length: 4000 }, (_, n) => step(`s${n}`, `n${n % 400}`, n < 400 ? [] : [`s${n - 400}`], 100));
  expect(extent(planned(steps, 0).values())).toEqual({ from: 0, to: 1000 });
});

test('marks are round and not too close', () => {
  const { marks, at } = scale(5000, 21_000, 800);
  expect(marks.map((mark) => mark.ms)).toEqual([0, 2000, 4000, 6000, 8000, 10_000, 12_000, 14_000, 16_000]);
  expect(at(13_000)).toBe(400);
  expect(scale(0, 0, 100).marks).toHaveLength(1);
});

test('the same step on many nodes is one box with one line', () => {
  const steps = ['1', '2', '3'].flatMap((node) => [
    step(`a${node}`, node, [], 1, { name: 'A', state: 'done' }),
    step(`b${node}`, node, [`a${node}`], 1, { name: 'B', service: 'web', isCritical: node === '2' }),
  ]);
  const { boxes, edges } = byKind(steps);
  expect(boxes.map((box) => [box.title, box.steps.length, box.isCritical])).toEqual([['A', 3, false], ['B web', 3, true]]);
  expect(edges).toEqual([['A', 'B web']]);
  expect(boxes.map((box) => stateOf(box.steps))).toEqual(['done', 'waiting']);
});

test('boxes do not lie upon each other, and lines go forward', () => {
  const { boxes, lines, width } = picture([step('a', 'n', [], 1), step('b', 'n', ['a'], 1), step('c', 'm', ['a'], 1), step('d', 'm', ['b', 'c'], 1)], false, { width: 900, height: 300 });
  for (const one of boxes) {
    for (const other of boxes) {
      if (one !== other) expect(Math.abs(one.x - other.x) >= BOX.width || Math.abs(one.y - other.y) >= BOX.height).toBe(true);
    }
  }
  expect(lines).toHaveLength(4);
  expect(Math.max(...boxes.map((box) => box.x))).toBeLessThan(width);
  expect(stateOf([{ ...step('a', 'n', [], 1), state: 'failed' }, step('b', 'n', [], 1)])).toBe('failed');
  expect(stateOf([{ ...step('a', 'n', [], 1), state: 'done' }, step('b', 'n', [], 1)])).toBe('waiting');
});

test('a picture is laid as it is seen best', () => {
  const chain = Array.from({ length: 8 }, (_, n) => step(`s${n}`, 'n', n > 0 ? [`s${n - 1}`] : [], 1));
  const wide = picture(chain, false, { width: 2000, height: 200 });
  const high = picture(chain, false, { width: 300, height: 900 });
  expect(wide.width).toBeGreaterThan(wide.height);
  expect(high.height).toBeGreaterThan(high.width);
});

test('what decides the end goes first, even before a longer way', () => {
  const spans = planned([step('a', 'n', [], 10, { isCritical: true }), step('b', 'n', [], 30)], 0);
  expect(spans.get('a')).toEqual({ from: 0, to: 10 });
});

test('nodes that carry the same are together', () => {
  const nodes = [{ s: ['b', 'a'] }, { s: ['c'] }, { s: ['a', 'b'] }];
  const groups = groupNodes(nodes, (node) => ({ services: node.s, hardwaretype: 'small' }) as never);
  expect(groups.map((group) => [group.services, group.nodes.length])).toEqual([[['c'], 1], [['a', 'b'], 2]]);
});

test('of a name with little room its end is seen', () => {
  expect(ending('demo1-1000', 10)).toBe('demo1-1000');
  expect(ending('integration-tests4-1003', 10)).toBe('…sts4-1003');
  expect(fitted('CONFIGURE postgres', 'integration-tests4-1003', 30)).toBe('…ests4-1003 CONFIGURE postgres');
  expect(fitted('START', 'demo1-1000', 30)).toBe('demo1-1000 START');
});

test('work is counted by node', () => {
  const task = (nodeId: string, status: string) => ({ nodeId, status }) as Parameters<typeof workOfNodes>[0][number];
  const found = workOfNodes([task('a', 'done'), task('a', 'running'), task('a', 'waiting'), task('b', 'waiting')]);
  expect(found.get('a')).toEqual({ done: 1, all: 3, running: task('a', 'running') });
  expect(found.get('b')).toEqual({ done: 0, all: 1 });
  expect(found.has('c')).toBe(false);
});

test('tasks that wait are counted by their reason, those that could run first', () => {
  const task = (...codes: string[]) => ({ waiting: codes.map((code) => ({ code, text: `for ${code}` })) });
  const found = waitsOf([task('predecessor'), task('predecessor', 'node_busy'), task('predecessor'), task('node_busy'), task('workers_busy'), task('workers_busy'), task()]);
  expect(found).toEqual([
    { code: 'workers_busy', text: 'for workers_busy', count: 2 },
    { code: 'node_busy', text: 'for node_busy', count: 1 },
    { code: 'predecessor', text: 'for predecessor', count: 3 },
  ]);
});

test('arrow keys go to what is next in their way', () => {
  const places = [{ id: 'a', x: 0, y: 0 }, { id: 'b', x: 100, y: 0 }, { id: 'c', x: 110, y: 50 }, { id: 'd', x: 400, y: 50 }, { id: 'e', x: 0, y: 100 }];
  const to = (from: string, key: string, down = 2) => steered(places, from, key, { across: 4, down });
  expect(['ArrowRight', 'ArrowDown', 'ArrowLeft', 'End', 'x'].map((key) => to('a', key))).toEqual(['b', 'e', undefined, 'e', undefined]);
  expect(to('c', 'ArrowRight')).toBe('d');
  expect(to('d', 'ArrowUp')).toBe('b');
  // Lane by lane, however far aside what is in the next one begins.
  expect(to('a', 'ArrowDown', 0.01)).toBe('c');
  expect([stop(['a', 'b'], undefined, 'b'), stop(['a', 'b'], 'gone'), stop([], 'a')]).toEqual(['b', 'a', undefined]);
});
