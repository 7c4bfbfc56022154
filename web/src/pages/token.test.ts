import { expect, test } from 'vitest';
import { EMPTY, rolesBelow, tokenRequest } from './token.ts';

test('a token is limited as it was filled in', () => {
  expect(tokenRequest({ ...EMPTY, label: ' CI ' })).toEqual({ label: 'CI', expiresInSeconds: 7_776_000 });
  expect(tokenRequest({ label: 'CI', days: 0, role: 'reader', reach: { clusters: 'write', catalog: 'read', own: 'none' } })).toEqual({
    label: 'CI', role: 'reader', scopes: ['clusters', 'catalog:read'],
  });
  expect(rolesBelow('admin')).toEqual(['reader', 'user', 'admin']);
  expect(rolesBelow('provisioner')).toEqual([]);
});
