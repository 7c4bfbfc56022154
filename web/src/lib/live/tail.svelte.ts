/** What tasks of a cluster print: the latest lines, and those that come. */
import { send, type Shapes } from '../api/client.ts';
import { asProblem, type Problem } from '../api/problem.ts';
import { appended, prepended, type Line } from './lines.ts';
import { stream } from './stream.svelte.ts';

export interface Asked {
  cluster: string;
  task?: string;
  search?: string;
  ignoreCase?: boolean;
  regex?: boolean;
  /** Begin around this line of the task. */
  around?: number;
}

/** Lines that are kept at most: what is older is asked for again. */
const MOST = 200_000;
const PART = 1000;

export class LogTail {
  lines = $state.raw<Line[]>([]);
  problem = $state.raw<Problem>();
  /** Whether there is an answer by now. */
  isAsked = $state(false);
  /** Where older lines are. */
  older = $state.raw<string>();
  /** Number of the newest line of the task. */
  #newest?: number;
  readonly #asked: () => Asked;

  constructor(asked: () => Asked) {
    this.#asked = asked;
  }

  #path(more: Record<string, string | number | undefined>): string {
    const { cluster, task, search, ignoreCase, regex } = this.#asked();
    const query = new URLSearchParams();
    const all = { task, search, ignoreCase: ignoreCase && search ? 'true' : undefined, regex: regex && search ? 'true' : undefined, ...more };
    for (const [name, value] of Object.entries(all)) if (value !== undefined && value !== '') query.set(name, String(value));
    return `/v2/clusters/${encodeURIComponent(cluster)}/logs?${query}`;
  }

  /** Asks at once, and again every so many ms; 0: once. To be called in an effect; gives what ends it. */
  follow(every: number): () => void {
    let ended = false;
    let timer: ReturnType<typeof setTimeout>;
    const { around } = this.#asked();
    void stream.returns;
    const ask = async (first: boolean) => {
      try {
        const from = around === undefined ? { tail: PART } : { after: Math.max(0, around - PART / 2), limit: PART };
        const found = await send<Shapes['Logs']>('GET', this.#path(first ? from : this.#since()));
        if (ended) return;
        this.#newest = found.newest ?? undefined;
        this.lines = first ? found.lines : appended(this.lines, found.lines, MOST);
        if (first) this.older = found.next ?? undefined;
        this.problem = undefined;
      } catch (fault) {
        if (ended) return;
        const problem = asProblem(fault);
        if (!problem.isAway) this.problem = problem;
      }
      this.isAsked = true;
      if (every > 0) timer = setTimeout(() => void ask(false), document.visibilityState === 'visible' ? every : every * 5);
    };
    void ask(true);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }

  #since(): Record<string, string | number> {
    const last = this.lines.at(-1);
    if (!last) return { tail: PART };
    return this.#asked().task ? { after: this.#newest ?? last.number, limit: PART } : { since: last.time, tail: PART };
  }

  /** Older lines than the first. */
  async back(): Promise<void> {
    if (!this.older) return;
    const found = await send<Shapes['Logs']>('GET', this.older);
    this.lines = prepended(this.lines, found.lines);
    this.older = found.next ?? undefined;
  }
}
