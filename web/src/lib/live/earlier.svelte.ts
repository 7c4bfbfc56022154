/** Tasks of earlier jobs, for lines they printed: asked for once for each job. */
import type { Shapes } from '../api/client.ts';
import { jobsOf, type Line } from './lines.ts';

type Task = Shapes['GraphTask'];

export class EarlierTasks {
  known = $state.raw(new Map<string, Task>());
  #asked = new Set<string>();
  #load: (job: string) => Promise<Task[]>;

  constructor(load: (job: string) => Promise<Task[]>) {
    this.#load = load;
  }

  /** Learns whose these lines are, except those of a job that is known anyway. */
  learn(lines: Line[], latest: string | undefined): void {
    for (const job of jobsOf(lines)) {
      if (job === latest || this.#asked.has(job)) continue;
      this.#asked.add(job);
      // Where it is not told, the number of the task is shown.
      this.#load(job).then((tasks) => (this.known = new Map([...this.known, ...tasks.map((task) => [task.id, task] as const)])), () => undefined);
    }
  }
}
