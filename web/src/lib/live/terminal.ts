/** A terminal's WebSocket: what is typed, what is shown, and how it ends. */
import { problemOf, type Problem, type ProblemBody } from '../api/problem.ts';

/** As the server says why it closed one; `lost` also when the connection broke. */
export const ENDINGS = ['shell', 'left', 'lost', 'slow', 'idle', 'longest', 'revoked', 'stopping', 'misspoken', 'failed'] as const;
export type Ending = (typeof ENDINGS)[number];

export interface Size {
  columns: number;
  rows: number;
}

export interface Watcher {
  /** The shell is there. */
  opened(): void;
  /** For the screen; `shown` is to be called when it is there. */
  output(bytes: Uint8Array, shown: () => void): void;
  /** It is over. `wasOpen`: whether the shell had been there. */
  ended(why: Ending, wasOpen: boolean, problem?: Problem): void;
}

/** Longest message that is sent, in bytes: a browser would cut longer ones by itself. */
const PIECE = 16 * 1024;
/** The server is told of what was shown this often, in bytes. It sends 512 KiB ahead. */
const TELL_EVERY = 64 * 1024;

export const address = (cluster: string, node: string, { columns, rows }: Size): string =>
  `/v2/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}/terminal?columns=${columns}&rows=${rows}`;

export class TerminalLink {
  readonly #socket: WebSocket;
  readonly #watcher: Watcher;
  #isOpen = false;
  #isOver = false;
  #shown = 0;
  #told = 0;

  constructor(path: string, watcher: Watcher, connect = (url: URL): WebSocket => new WebSocket(url)) {
    const url = new URL(path, location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    this.#watcher = watcher;
    this.#socket = connect(url);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') this.#hear(data);
      else this.#show(new Uint8Array(data));
    };
    this.#socket.onclose = () => this.#end('lost');
  }

  #hear(text: string): void {
    const said = JSON.parse(text) as { opened?: boolean; end?: Ending; problem?: ProblemBody };
    if (said.opened) {
      this.#isOpen = true;
      this.#watcher.opened();
    }
    if (said.end) this.#end(said.end, said.problem && problemOf(said.problem, said.problem.status));
  }

  #show(bytes: Uint8Array): void {
    this.#watcher.output(bytes, () => {
      this.#shown += bytes.length;
      if (this.#shown - this.#told < TELL_EVERY) return;
      this.#told = this.#shown;
      this.#send(JSON.stringify({ shown: this.#shown }));
    });
  }

  #end(why: Ending, problem?: Problem): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.close();
    this.#watcher.ended(why, this.#isOpen, problem);
  }

  #send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message);
  }

  /** Types a text, or bytes as they are. */
  type(text: string | Uint8Array): void {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    for (let from = 0; from < bytes.length; from += PIECE) this.#send(new Uint8Array(bytes.slice(from, from + PIECE)));
  }

  resize({ columns, rows }: Size): void {
    this.#send(JSON.stringify({ columns, rows }));
  }

  /** Leaves it, without another word. */
  close(): void {
    this.#isOver = true;
    this.#socket.close();
  }
}
