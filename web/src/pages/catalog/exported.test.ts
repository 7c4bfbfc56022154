import { expect, test } from 'vitest';
import { changesOf, readExport } from './exported.ts';

const service = (name: string, more = {}) => ({ name, version: 3, ...more });

test('what comes, changes and goes is told by kind', () => {
  const before = { services: [service('nginx'), service('redis'), service('old')], providers: [service('local')] };
  const after = { services: [service('redis', { description: 'other' }), { name: 'nginx', version: 9, icon: null }, service('new')] };
  expect(changesOf(before, after)).toEqual([
    { kind: 'services', added: ['new'], changed: ['redis'], removed: ['old'] },
    { kind: 'providers', added: [], changed: [], removed: ['local'] },
  ]);
  expect(changesOf(before, before)).toEqual([]);
});

test('what is no catalog is refused, and JSON is as good as YAML', () => {
  expect(readExport('{"services": []}')).toEqual({ services: [] });
  expect(readExport('services:\n  - name: nginx\n')).toEqual({ services: [{ name: 'nginx' }] });
  for (const text of ['[]', 'nonsense', '{"services": {}}']) expect(() => readExport(text)).toThrow('clustertemplates');
});
