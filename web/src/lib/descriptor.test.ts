import { expect, test } from 'vitest';
import { asked, lacking, needed, type ParameterSet } from './descriptor.ts';

const text = { label: 'x', type: 'text' };
const set: ParameterSet = { fields: { user: text, key: text, password: text }, required: [['user', 'key'], ['user', 'password']] };

test('what is needed whatever else is given, and what lacks on each way', () => {
  expect([...needed(set)]).toEqual(['user']);
  expect([...needed(undefined)]).toEqual([]);
  expect(lacking(set, {})).toEqual([['user', 'key'], ['user', 'password']]);
  expect(lacking(set, { user: 'ann', key: '' })).toEqual([['key'], ['password']]);
  expect(lacking(set, { user: 'ann', password: 'x' })).toEqual([]);
  expect(lacking({ fields: {} }, {})).toEqual([]);
});

test('nobody is asked what the admin has said for all', () => {
  const admin = { fields: { user: text, key: { ...text, override: true } } };
  const plugin = { parameters: { admin, user: set } } as unknown as Parameters<typeof asked>[0];
  const found = asked(plugin, { user: 'ann', key: 'k', password: '' });
  expect(Object.keys(found.fields ?? {})).toEqual(['key', 'password']);
  expect(found.required).toEqual([['key'], ['password']]);
  expect(asked(undefined, undefined)).toEqual({ fields: {}, required: [] });
});
