import { expect, test } from 'vitest';
import { compared, read, written } from './document.ts';

test('what is written is read again, in either form', () => {
  const entity = { name: 'web', defaults: { services: ['a', 'b'], config: { text: 'x: "y"\nz' } } };
  expect(read(written(entity, 'yaml')).entity).toEqual(entity);
  expect(read(written(entity, 'json')).entity).toEqual(entity);
  expect(read('a: [').fault).toBeTruthy();
  expect(read('- a').fault).toBeTruthy();
});

test('a difference is told line by line, without the version', () => {
  const rows = compared({ name: 'a', version: 1, x: 1 }, { name: 'a', version: 2, x: 2 }, 'yaml');
  expect(rows).toEqual([{ sign: ' ', text: 'name: a' }, { sign: '-', text: 'x: 1' }, { sign: '+', text: 'x: 2' }]);
  expect(compared({ version: 1, a: 1 }, { version: 2, a: 1 }, 'json').every((row) => row.sign === ' ')).toBe(true);
});
