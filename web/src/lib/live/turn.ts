/** A pause is so many times as long as the work before it: what is large or slow to come takes a quarter of the time at most. */
const SHARE = 3;

/** Calls work at once, and then at most once in so many ms, however often it is asked for; the last ask is never lost. */
export class Turn {
  #running = false;
  #again = false;
  readonly #pause: number;
  readonly #work: () => Promise<void>;

  constructor(pause: number, work: () => Promise<void>) {
    this.#pause = pause;
    this.#work = work;
  }

  ask(): void {
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    const begun = performance.now();
    void this.#work()
      .catch(() => undefined)
      .then(() => new Promise((resolve) => setTimeout(resolve, Math.max(this.#pause, SHARE * (performance.now() - begun)))))
      .then(() => {
        this.#running = false;
        if (this.#again) {
          this.#again = false;
          this.ask();
        }
      });
  }
}
