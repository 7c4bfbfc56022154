import { expect, test } from 'vitest';
import { extended, local } from '../cluster/act/lease.ts';
import { possible, serviceOrder, sizeChange } from '../cluster/act/operation.ts';
import { inGroup, matching, nextOrder, ordered, orderOf, type Summary } from '../clusters/filter.ts';
import { empty, request, takeable, taken, type Step, type Template } from './request.ts';

const template = { name: 'web', constraints: { size: { min: 3, max: 50 } } } as Template;

test('what is left out is the template’s', () => {
  const filled = { ...empty(template), name: ' shop ' };
  expect(JSON.parse(JSON.stringify(request('web', filled)))).toEqual({ name: 'shop', clusterTemplate: 'web', numMachines: 3 });
  const more = request('web', { ...filled, leaseHours: 2, config: '{"a": 1}', services: ['x'], providerFields: { key: 'k', none: '' } });
  expect(more).toMatchObject({ initialLeaseDuration: 7_200_000, config: { a: 1 }, services: ['x'], providerFields: { key: 'k' } });
  expect(request('web', { ...filled, config: 'a: { b: 1 }' }).config).toEqual({ a: { b: 1 } });
  expect(() => request('web', { ...filled, config: '{' })).toThrow();
});

test('what can be done hangs on the state', () => {
  const plan = { action: 'CLUSTER_CREATE', status: 'running' };
  expect(possible({ status: 'pending' }, plan)).toEqual(['pause', 'abort', 'maintenance', 'lease', 'export', 'delete']);
  expect(possible({ status: 'pending' }, { action: 'CLUSTER_GROW', status: 'paused' })).toEqual(['resume', 'cancel', 'maintenance', 'lease', 'export', 'delete']);
  expect(possible({ status: 'incomplete' }, plan)[0]).toBe('retry');
  expect(possible({ status: 'active' }, plan)).toContain('grow');
  expect(possible({ status: 'terminated' }, plan)).toEqual([]);
});

test('a size is said in all, or of those that carry a service', () => {
  const size = { machines: 3, service: '', more: 2, hardwaretype: 'large' };
  expect(sizeChange(size, 3)).toBeUndefined();
  expect(sizeChange(size, 2)).toEqual({ machines: 3, hardwaretype: 'large' });
  expect(sizeChange(size, 5)).toEqual({ machines: 3 });
  expect(sizeChange({ ...size, service: 'app' }, 3)).toEqual({ services: { app: 2 }, hardwaretype: 'large' });
  expect(sizeChange({ ...size, service: 'app', more: -1 }, 3)).toEqual({ services: { app: -1 } });
  expect(sizeChange({ ...size, service: 'app', more: 0 }, 3)).toBeUndefined();
});

test('what is done to services goes where it belongs, once it is said to which', () => {
  expect(serviceOrder('stop', '')).toEqual({ path: 'services/stop', body: {} });
  expect(serviceOrder('stop', 'a b')).toEqual({ path: 'services/a%20b/stop', body: {} });
  expect(serviceOrder('add', 'redis')).toEqual({ path: 'services', body: { services: ['redis'] } });
  expect(serviceOrder('remove', 'redis')).toEqual({ path: 'services/remove', body: { services: ['redis'] } });
  expect(serviceOrder('remove', '').body).toBeUndefined();
  expect(serviceOrder('errand', 'postgres:backup')).toEqual({ path: 'services/postgres/errands/backup', body: {} });
  expect(serviceOrder('errand', '').body).toBeUndefined();
});

test('clusters are found by any of their words', () => {
  const one = (id: string, name: string, status: string) => ({ id, name, status, ownerId: 'ann', clusterTemplate: { name: 'web' } }) as Summary;
  const all = [one('1', 'shop', 'active'), one('2', 'fair', 'pending'), one('3', 'old', 'terminated')];
  expect(inGroup(all, 'living').map((it) => it.id)).toEqual(['1', '2']);
  expect(matching(all, 'WEB fai').map((it) => it.id)).toEqual(['2']);
  expect(matching(all, ' ')).toBe(all);
});

test('clusters are put in order by any column, and as they came again', () => {
  const one = (name: string, status: string, expireTime: number) => ({ name, status, expireTime, expiring: expireTime === 5 }) as Summary;
  const all = [one('db-10', 'active', 0), one('db-9', 'incomplete', 9), one('Db-8', 'pending', 5)];
  const names = (sort: string) => ordered(all, orderOf(sort)).map((it) => it.name);
  expect(names('name')).toEqual(['Db-8', 'db-9', 'db-10']);
  expect(names('-name')).toEqual(['db-10', 'db-9', 'Db-8']);
  expect(names('state')).toEqual(['db-9', 'Db-8', 'db-10']);
  expect(names('lease')).toEqual(['Db-8', 'db-9', 'db-10']);
  expect(ordered(all, orderOf('nonsense'))).toBe(all);
  expect(inGroup(all, 'ending').map((it) => it.name)).toEqual(['Db-8']);
  const asked = [undefined, 'name', '-name'].map((sort) => nextOrder(orderOf(sort ?? null), 'name'));
  expect(asked).toEqual(['name', '-name', undefined]);
  expect(nextOrder(orderOf('-name'), 'nodes')).toBe('nodes');
});

test('what would help is filled in', () => {
  const web = { name: 'web', compatibility: { services: ['redis', 'nginx'] }, defaults: { services: ['nginx'] } } as Template;
  const steps: Step[] = [{ step: 'machines', count: 3 }, { step: 'addService', service: 'mysql' }, { step: 'addService', service: 'redis' }, { step: 'removeService', service: 'nginx' }];
  expect(takeable(steps, web).map((step) => step.step)).toEqual(['machines', 'addService', 'removeService']);
  const after = (step: Step, more = {}) => taken(step, { ...empty(web), ...more }, web);
  expect(after({ step: 'machines', count: 3 }).machines).toBe(3);
  expect(after({ step: 'addService', service: 'redis' }).services).toEqual(['nginx', 'redis']);
  expect(after({ step: 'addService', service: 'redis' }, { services: ['redis'] }).services).toEqual(['redis']);
  expect(after({ step: 'removeService', service: 'nginx' }).services).toEqual([]);
  expect(after({ step: 'hardwareType', name: 'small' }).hardwaretype).toBe('small');
  expect(after({ step: 'imageType', name: 'debian-12' }).imagetype).toBe('debian-12');
});

test('a lease is made longer from its end, or from now', () => {
  const now = Date.UTC(2027, 0, 31, 12, 0, 30);
  expect(extended(now + 1000, now, 60_000)).toBe(now + 61_000);
  expect(extended(0, now, 60_000)).toBe(now + 60_000);
  expect(new Date(local(now)).getTime()).toBe(now - 30_000);
});
