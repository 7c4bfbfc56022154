/** Something that is shown and kept true: asked for once, and anew whenever it may have changed. */
import { untrack } from 'svelte';
import { asProblem, type Problem } from '../api/problem.ts';
import { stream, type Happening } from './stream.svelte.ts';
import { Turn } from './turn.ts';

/** Pause between two asks for the same, in ms. */
const PAUSE = 250;

export class Shown<T> {
  data = $state.raw<T>();
  problem = $state.raw<Problem>();
  /** What it is of; data of another is never shown in its place. */
  #key: string | undefined;
  #turn: Turn;
  #load: () => Promise<T>;

  constructor(load: () => Promise<T>) {
    this.#load = load;
    this.#turn = this.#newTurn();
  }

  #newTurn(): Turn {
    return new Turn(PAUSE, () => this.#ask());
  }

  /** Whether it is awaited for the first time. */
  get isLoading(): boolean {
    return this.data === undefined && this.problem === undefined;
  }

  refresh(): void {
    this.#turn.ask();
  }

  async #ask(): Promise<void> {
    const key = this.#key;
    try {
      const found = await this.#load();
      if (key !== this.#key) return;
      this.data = found;
      this.problem = undefined;
    } catch (fault) {
      if (key !== this.#key) return;
      const problem = asProblem(fault);
      // While nobody answers the page says so, and what was there stays.
      if (!problem.isAway || this.data === undefined) this.problem = problem;
      if (!problem.isAway && problem.status !== 401 && problem.status < 500) this.data = undefined;
    }
  }

  /** Begins with another thing of the same sort. */
  of(key: string): void {
    if (key === this.#key) return;
    this.#key = key;
    this.data = undefined;
    this.problem = undefined;
    // What is under way is of the other, and not waited for.
    this.#turn = this.#newTurn();
  }
}

/**
 * Something shown by a component for as long as that is there. `key` says what it is of and may change; `concerns` says which
 * events may have changed it.
 */
export function shown<T>(key: () => string, load: () => Promise<T>, concerns: (happening: Happening) => boolean = () => false): Shown<T> {
  const it = new Shown(load);
  $effect(() => {
    const now = key();
    void stream.returns;
    untrack(() => {
      it.of(now);
      it.refresh();
    });
  });
  $effect(() => stream.listen((happening) => concerns(happening) && it.refresh()));
  return it;
}
