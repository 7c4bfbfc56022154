import { beforeEach, expect, test, vi } from 'vitest';
import { address, TerminalLink, type Watcher } from './terminal.ts';

vi.stubGlobal('location', { href: 'https://barrels.example/clusters/1' });
vi.stubGlobal('WebSocket', { OPEN: 1 });

class Wire {
  readyState = 1;
  sent: (string | Uint8Array)[] = [];
  onmessage?: (event: { data: unknown }) => void;
  onclose?: () => void;
  constructor(readonly url: URL) {}
  send = (message: string | Uint8Array): void => void this.sent.push(message);
  close(): void {
    this.readyState = 3;
  }
}

let wire: Wire;
let watcher: { [one in keyof Watcher]: ReturnType<typeof vi.fn<Watcher[one]>> };
let link: TerminalLink;
beforeEach(() => {
  watcher = { opened: vi.fn(), output: vi.fn(), ended: vi.fn() };
  link = new TerminalLink(address('00000001', 'n 1', { columns: 100, rows: 30 }), watcher, (url) => (wire = new Wire(url)) as unknown as WebSocket);
});

test('it is asked for where the page came from, without a secret', () => {
  expect(String(wire.url)).toBe('wss://barrels.example/v2/clusters/00000001/nodes/n%201/terminal?columns=100&rows=30');
});

test('what is typed goes out in pieces', () => {
  link.type('ä'.repeat(20_000));
  const pieces = wire.sent as Uint8Array[];
  expect(pieces.map((piece) => piece.length)).toEqual([16_384, 16_384, 7232]);
  expect(new TextDecoder().decode(new Uint8Array(pieces.flatMap((piece) => [...piece])))).toBe('ä'.repeat(20_000));
});

test('the server is told of what is on the screen, and of nothing else', () => {
  const shown: (() => void)[] = [];
  watcher.output.mockImplementation((_, done) => void shown.push(done));
  for (let at = 0; at < 4; at += 1) wire.onmessage?.({ data: new ArrayBuffer(40_000) });
  expect(wire.sent).toEqual([]);
  shown.forEach((done) => done());
  expect(wire.sent).toEqual(['{"shown":80000}', '{"shown":160000}']);
});

test('its end is told once, with what went wrong', () => {
  wire.onmessage?.({ data: '{"end":"failed","problem":{"status":409,"detail":"no key here","remedy":"elsewhere"}}' });
  wire.onclose?.();
  expect(watcher.ended).toHaveBeenCalledOnce();
  const [why, wasOpen, problem] = watcher.ended.mock.calls[0] ?? [];
  expect([why, wasOpen, problem?.message, problem?.remedy, problem?.isAway]).toEqual(['failed', false, 'no key here', 'elsewhere', false]);
});

test('a connection that breaks is an end, one that is left is none', () => {
  wire.onmessage?.({ data: '{"opened":true}' });
  wire.onclose?.();
  expect(watcher.ended).toHaveBeenCalledWith('lost', true, undefined);
  const other = new TerminalLink('/x', watcher, (url) => (wire = new Wire(url)) as unknown as WebSocket);
  other.close();
  wire.onclose?.();
  expect(watcher.ended).toHaveBeenCalledOnce();
});
