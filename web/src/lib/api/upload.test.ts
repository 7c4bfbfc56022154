import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Problem } from './problem.ts';
import { upload } from './upload.ts';

// It asks the page for its address as soon as it is read.
vi.mock('./client.ts', () => ({ spokenHeaders: () => [] }));

/** What a browser has for it, as far as it is used. */
class Sending {
  static latest: Sending;
  upload: { onprogress?: (event: { loaded: number }) => void } = {};
  onload?: () => void;
  onabort?: () => void;
  status = 0;
  responseText = '';
  isAborted = false;
  constructor() {
    Sending.latest = this;
  }
  open(): void {}
  setRequestHeader(): void {}
  send(): void {}
  abort(): void {
    this.isAborted = true;
    this.onabort?.();
  }
}

beforeEach(() => vi.stubGlobal('XMLHttpRequest', Sending));
afterEach(() => vi.unstubAllGlobals());

const begin = (signal: AbortSignal) => {
  const told: number[] = [];
  const ended = upload<{ version: number }>('/v2/somewhere', new Blob(['1234']), (sent) => told.push(sent), signal);
  return { told, ended, request: Sending.latest };
};

test('an upload tells how much is sent, and what was answered', async () => {
  const { told, ended, request } = begin(new AbortController().signal);
  request.upload.onprogress?.({ loaded: 3 });
  Object.assign(request, { status: 200, responseText: '{"version": 2}' });
  request.onload?.();
  expect(await ended).toEqual({ version: 2 });
  expect(told).toEqual([3]);
});

test('a refusal is one, whatever it is written as', async () => {
  const { ended, request } = begin(new AbortController().signal);
  Object.assign(request, { status: 413, responseText: 'too large' });
  request.onload?.();
  await expect(ended).rejects.toMatchObject(new Problem({ detail: 'too large' }, 413));
});

test('an upload that is given up sends nothing more', async () => {
  const end = new AbortController();
  const { ended, request } = begin(end.signal);
  end.abort('given up');
  await expect(ended).rejects.toBe('given up');
  expect(request.isAborted).toBe(true);
});
