/** The way to the actor console: one WebSocket, taken up again when it ends. The session's cookie says who we are. */
import { kept, type Detail, type Followed, type Following, type Said, type Tree } from './message.ts';

/** Messages that are kept. */
const MOST = 1000;
/** Pauses before the next try, in ms. */
const PAUSES = [300, 1000, 2000, 4000];

export class Feed {
  state = $state<'waiting' | 'live' | 'lost'>('waiting');
  tree = $state.raw<Tree>();
  detail = $state.raw<Detail>();
  /** The path of an actor that is no more. */
  gone = $state<string>();
  messages = $state.raw<Followed[]>([]);
  missed = $state(0);
  problem = $state<string>();
  following = $state.raw<Following>();
  #asks = { watch: '', examine: '', follow: '' };
  #socket?: WebSocket;
  #tries = 0;
  #isOver = false;
  #timer?: ReturnType<typeof setTimeout>;

  start(): () => void {
    this.#open();
    return () => {
      this.#isOver = true;
      clearTimeout(this.#timer);
      this.#socket?.close();
    };
  }

  watch(filter: string): void {
    this.#ask('watch', { do: 'watch', filter, limit: 500 });
  }

  examine(path: string | undefined): void {
    this.detail = undefined;
    this.gone = undefined;
    if (path) this.#ask('examine', { do: 'examine', path });
    else this.#end('examine', 'leave');
  }

  follow(what: Following | undefined): void {
    this.following = what;
    if (!what) return this.#end('follow', 'unfollow');
    this.messages = [];
    this.missed = 0;
    this.#ask('follow', { do: 'follow', ...what });
  }

  #ask(of: 'watch' | 'examine' | 'follow', what: object): void {
    this.#asks[of] = JSON.stringify(what);
    this.#say(this.#asks[of]);
  }

  #end(of: 'examine' | 'follow', word: string): void {
    if (!this.#asks[of]) return;
    this.#asks[of] = '';
    this.#say(JSON.stringify({ do: word }));
  }

  #say(text: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  #open(): void {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/console`);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#tries = 0;
      this.state = 'live';
      for (const ask of Object.values(this.#asks)) if (ask) socket.send(ask);
    });
    socket.addEventListener('message', (event) => this.#hear(JSON.parse(event.data as string) as Said));
    socket.addEventListener('close', () => {
      if (this.#isOver) return;
      this.state = 'lost';
      const pause = PAUSES[Math.min(this.#tries++, PAUSES.length - 1)];
      this.#timer = setTimeout(() => this.#open(), pause);
    });
  }

  #hear(said: Said): void {
    if ('tree' in said) this.tree = said.tree;
    else if ('detail' in said) {
      this.detail = said.detail;
      this.gone = undefined;
    } else if ('gone' in said) {
      this.detail = undefined;
      this.gone = said.gone;
    } else if ('messages' in said) {
      this.messages = kept(this.messages, said.messages, MOST);
      this.missed += said.missed;
    } else this.problem = said.problem;
  }
}
