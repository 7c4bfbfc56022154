import { expect, test, vi } from 'vitest';
import { EventReader } from './live/sse.ts';
import { Turn } from './live/turn.ts';
import { format, parse, subject, type Route } from './route.ts';
import { duration } from './time.ts';

test('every address is read as it was written', () => {
  const routes: Route[] = [
    { page: 'clusters' },
    { page: 'new', template: 'web' },
    { page: 'cluster', id: '00000001', tab: 'overview', job: undefined },
    { page: 'cluster', id: '00000001', tab: 'plan', job: '00000001-002' },
    { page: 'catalog', kind: 'services', name: 'a/b c', version: 3 },
    { page: 'operations', tab: 'audit' },
    { page: 'profile' },
  ];
  for (const route of routes) expect(parse(format(route))).toEqual(route);
  expect(parse('/')).toEqual({ page: 'clusters' });
  expect(parse('/clusters/1/nonsense').page).toBe('missing');
  expect(parse('/catalog/services/a/x').page).toBe('missing');
});

test('parts of a page are of the same', () => {
  const of = (path: string) => subject(parse(path));
  expect(of('/clusters/1/logs')).toBe(of('/clusters/1'));
  expect(of('/clusters/2')).not.toBe(of('/clusters/1'));
  expect(of('/catalog/services/nginx')).toBe(of('/catalog/services'));
  expect(of('/new/web')).not.toBe(of('/new'));
});

test('events are whole wherever the stream is cut', () => {
  const text = 'retry: 1000\n\nid: 7\ndata: {"a":1}\n\n: still here\n\nid: 8\ndata: x\ndata: y\n\nid: 9\ndata: half';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const reader = new EventReader();
    const events = [...reader.read(text.slice(0, cut)), ...reader.read(text.slice(cut))];
    expect(events).toEqual([{ id: '7', data: '{"a":1}' }, { id: '8', data: 'x\ny' }]);
  }
});

test('many asks are few works, and the last one counts', async () => {
  let works = 0;
  const turn = new Turn(5, async () => void (works += 1));
  for (let n = 0; n < 100; n += 1) turn.ask();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(works).toBe(2);
});

test('slow work takes a quarter of the time at most', async () => {
  vi.useFakeTimers();
  let works = 0;
  const slow = new Turn(1, async () => {
    works += 1;
    await new Promise((resolve) => setTimeout(resolve, 40));
  });
  const asking = setInterval(() => slow.ask(), 1);
  await vi.advanceTimersByTimeAsync(1590);
  clearInterval(asking);
  vi.useRealTimers();
  expect(works).toBe(10);
});

test('times are short', () => {
  expect([0, 1340, 9960, 59_400, 60_000, 125_000, 3_600_000, 90_000_000].map(duration)).toEqual(
    ['0.0 s', '1.3 s', '10 s', '59 s', '1 min', '2 min 5 s', '1 h', '1 d 1 h']);
});
