import { expect, test } from 'vitest';
import { area, clockMarks, marks, path } from './draw.ts';
import { chartsOf, lately, nearest, spanOf, times, type Figure } from './history.ts';
import { marked, range, reading } from './reading.ts';

const figure = (name: string): Figure => ({ name, unit: 'tasks', meaning: '', values: [1] });
const same = (value: number) => value;

test('figures that belong together are in one chart, and one that nobody knows is not lost', () => {
  const charts = chartsOf(['workers', 'tasks-waiting', 'something-new', 'memory'].map(figure));
  expect(charts.map((chart) => [chart.key, chart.figures.map((one) => one.name)])).toEqual([
    ['tasks', ['tasks-waiting', 'workers']],
    ['memory', ['memory']],
    ['something-new', ['something-new']],
  ]);
});

test('values are of their times, also when there are fewer', () => {
  const history = { everyMs: 10, until: 100, figures: [] };
  expect(times(history, 30)).toEqual([70, 80, 90, 100]);
  expect(lately([1, 2], 4)).toEqual([null, null, 1, 2]);
  expect(lately([1, 2, 3], 2)).toEqual([2, 3]);
  expect([spanOf(6, 10_000), spanOf(60, 10_000), spanOf(61, 10_000), spanOf(360, 10_000)]).toEqual(['10', '10', '30', '30']);
  expect(nearest([70, 80, 90, 100], 84)).toBe(1);
  expect(nearest([70, 80, 90, 100], 500)).toBe(3);
  expect(nearest([], 5)).toBe(0);
});

test('a line stops where nothing was measured', () => {
  expect(path([1, 2, null, 3, null], same, same)).toBe('M0.0,1.0L1.0,2.0M3.0,3.0h0');
  expect(area([1, 2, null, 3], same, same, 9)).toBe('M0.0,9L0.0,1.0L1.0,2.0L1.0,9ZM3.0,9L3.0,3.0L3.0,9Z');
  expect(path([null, null], same, same)).toBe('');
});

test('marks are round, reach the highest value, and are whole for what is counted', () => {
  expect(marks(17, 'tasks')).toEqual([0, 10, 20]);
  expect(marks(1, 'tasks')).toEqual([0, 1]);
  expect(marks(0, 'tasks')).toEqual([0, 1]);
  expect(marks(0, 'ms')).toEqual([0, 1]);
  expect(marks(0.9, '1/s')).toEqual([0, 0.5, 1]);
  expect(marks(300 * 1024 ** 2, 'bytes').map((mark) => mark / 1024 ** 2)).toEqual([0, 100, 200, 300]);
  for (const top of [0.003, 1.1, 7, 42, 99, 101, 5000]) expect(marks(top, '%').at(-1)).toBeGreaterThanOrEqual(top);
});

test('marks of time are full minutes', () => {
  const begun = Date.UTC(2026, 0, 1, 10, 3);
  expect(clockMarks(begun, begun + 1_800_000, 6).map((ms) => new Date(ms).getUTCMinutes())).toEqual([5, 10, 15, 20, 25, 30]);
});

test('values have units that people know', () => {
  expect(reading(211_000_000, 'bytes', 'en')).toBe('201 MiB');
  expect(reading(0, 'bytes', 'en')).toBe('0 B');
  expect(reading(38.25, '%', 'en')).toBe('38.3 %');
  expect(reading(1250, 'ms', 'de')).toBe('1,25 s');
  expect(reading(3.456, '1/min', 'en')).toBe('3.46 /min');
  expect(reading(12, 'tasks', 'en')).toBe('12');
  expect(marked(2500, '1/min', 'en')).toBe('2.5K');
  expect(marked(20, 'ms', 'en')).toBe('20 ms');
  expect(reading(null, 'tasks', 'en')).toBe('–');
  expect(range([3, null, 1])).toEqual({ low: 1, high: 3 });
  expect(range([null])).toBeUndefined();
});
