/** Why the tasks of a cluster wait, in few words. */
import type { Shapes } from '../api/client.ts';

export interface Wait {
  /** For programs. */
  code: string;
  /** Continues "tasks wait …", for one of them. */
  text: string;
  count: number;
}

/** It tells least: every task but the first has some before it. */
const LEAST = 'predecessor';

/** So many tasks for each reason, first what holds up those that could run. A task with others before it could not. */
export function waitsOf(tasks: Pick<Shapes['WaitingTask'], 'waiting'>[]): Wait[] {
  const found = new Map<string, Wait>();
  for (const { waiting } of tasks) {
    const reason = waiting.find((one) => one.code === LEAST) ?? waiting[0];
    if (!reason) continue;
    const wait = found.get(reason.code) ?? { code: reason.code, text: reason.text, count: 0 };
    wait.count += 1;
    found.set(reason.code, wait);
  }
  return [...found.values()].sort((a, b) => Number(a.code === LEAST) - Number(b.code === LEAST) || b.count - a.count);
}
