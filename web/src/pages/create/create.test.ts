import { expect, test } from 'vitest';
import { possible } from '../cluster/act/operation.ts';
import { inGroup, matching, type Summary } from '../clusters/filter.ts';
import { allowedSize, empty, missingService, request, type Template } from './request.ts';

const template = { name: 'web', constraints: { size: { min: 3, max: 50 } } } as Template;

test('what is left out is the template’s', () => {
  const filled = { ...empty(template), name: ' shop ' };
  expect(JSON.parse(JSON.stringify(request('web', filled)))).toEqual({ name: 'shop', clusterTemplate: 'web', numMachines: 3 });
  const more = request('web', { ...filled, leaseHours: 2, config: '{"a": 1}', services: ['x'], providerFields: { key: 'k', none: '' } });
  expect(more).toMatchObject({ initialLeaseDuration: 7_200_000, config: { a: 1 }, services: ['x'], providerFields: { key: 'k' } });
  expect(() => request('web', { ...filled, config: '{' })).toThrow();
});

test('a size that is not allowed has one that is', () => {
  expect([1, 3, 60].map((machines) => allowedSize(template, machines))).toEqual([3, undefined, 50]);
  expect(allowedSize({ name: 'any' } as Template, 1)).toBe(undefined);
});

test('what can be done hangs on the state', () => {
  const plan = { action: 'CLUSTER_CREATE', status: 'running' };
  expect(possible({ status: 'pending' }, plan)).toEqual(['pause', 'abort', 'maintenance', 'lease', 'delete']);
  expect(possible({ status: 'pending' }, { action: 'CLUSTER_GROW', status: 'paused' })).toEqual(['resume', 'cancel', 'maintenance', 'lease', 'delete']);
  expect(possible({ status: 'incomplete' }, plan)[0]).toBe('retry');
  expect(possible({ status: 'active' }, plan)).toContain('grow');
  expect(possible({ status: 'terminated' }, plan)).toEqual([]);
});

test('clusters are found by any of their words', () => {
  const one = (id: string, name: string, status: string) => ({ id, name, status, ownerId: 'ann', clusterTemplate: { name: 'web' } }) as Summary;
  const all = [one('1', 'shop', 'active'), one('2', 'fair', 'pending'), one('3', 'old', 'terminated')];
  expect(inGroup(all, 'living').map((it) => it.id)).toEqual(['1', '2']);
  expect(matching(all, 'WEB fai').map((it) => it.id)).toEqual(['2']);
  expect(matching(all, ' ')).toBe(all);
});

test('a service that is missing can be added where the template allows it', () => {
  const web = { name: 'web', compatibility: { services: ['redis'] } } as Template;
  expect(missingService('add redis, or leave counter out', web)).toBe('redis');
  expect(missingService('add mysql, or leave counter out', web)).toBe(undefined);
  expect(missingService(undefined, web)).toBe(undefined);
});
