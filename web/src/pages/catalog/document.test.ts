import { expect, test } from 'vitest';
import { objectOf, reading } from '../../lib/schema/text.ts';
import { compared, written } from './document.ts';

test('what is written is read again, in either form', () => {
  const entity = { name: 'web', defaults: { services: ['a', 'b'], config: { text: 'x: "y"\nz' } } };
  expect(objectOf(reading(written(entity, 'yaml')))).toEqual(entity);
  expect(objectOf(reading(written(entity, 'json')))).toEqual(entity);
});

test('a difference is told line by line, without the version', () => {
  const rows = compared({ name: 'a', version: 1, x: 1 }, { name: 'a', version: 2, x: 2 }, 'yaml');
  expect(rows).toEqual([{ sign: ' ', text: 'name: a' }, { sign: '-', text: 'x: 1' }, { sign: '+', text: 'x: 2' }]);
  expect(compared({ version: 1, a: 1 }, { version: 2, a: 1 }, 'json').every((row) => row.sign === ' ')).toBe(true);
});
