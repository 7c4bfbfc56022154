import { expect, test } from 'vitest';
import { coloured, marked } from './ansi.ts';
import { appended, jobsOf, prepended, type Line } from './live/lines.ts';

const line = (number: number): Line => ({ task: 't', attempt: 1, number, time: number, stream: 'stdout', text: `${number}` });
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => line(from + n));

test('lines come once, in order, and not too many', () => {
  expect(appended(lines(1, 5), lines(3, 8), 100).map((one) => one.number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const known = lines(1, 5);
  expect(appended(known, lines(2, 4), 100)).toBe(known);
  expect(appended(lines(1, 5), lines(5, 9), 3).map((one) => one.number)).toEqual([6, 7, 8]);
  expect(prepended(lines(5, 7), lines(3, 6)).map((one) => one.number)).toEqual([3, 4, 5, 6]);
});

test('colours of terminals are read, and nothing else of theirs is left', () => {
  expect(coloured('a\u001b[1;31mred\u001b[0m b\u001b[2K')).toEqual([
    { text: 'a', colour: undefined, isBold: false },
    { text: 'red', colour: 1, isBold: true },
    { text: ' b', colour: undefined, isBold: false },
  ]);
  expect(coloured('')).toEqual([]);
});

test('what is looked for is marked', () => {
  const texts = (search: string, caseless: boolean, regex: boolean) => marked([{ text: 'Error: error.' }], search, caseless, regex).map((piece) => [piece.text, piece.isFound ?? false]);
  expect(texts('error', true, false)).toEqual([['Error', true], [': ', false], ['error', true], ['.', false]]);
  expect(texts('.', false, false)).toEqual([['Error: error', false], ['.', true]]);
  expect(texts('[a-z]+$|e.r', false, true)[0]).toEqual(['Error: ', false]);
  expect(texts('(', false, true)).toEqual([['Error: error.', false]]);
});

test('lines say of which jobs they are', () => {
  const of = (task: string): Line => ({ ...line(1), task });
  expect([...jobsOf([of('00000001-002-003'), of('00000001-002-004'), of('00000001-001-009')])]).toEqual(['00000001-002', '00000001-001']);
});
