/** Lines of logs, in the order of time, each once. */
import type { Shapes } from '../api/client.ts';

export type Line = Shapes['LogLine'];

export const keyOf = (line: Line): string => `${line.task}/${line.attempt}/${line.number}`;

/** Puts newer lines behind those that are known, and leaves out what is there already. */
export function appended(known: Line[], more: Line[], most: number): Line[] {
  if (more.length === 0) return known;
  const recent = new Set(known.slice(-Math.max(2000, more.length * 2)).map(keyOf));
  const fresh = more.filter((line) => !recent.has(keyOf(line)));
  if (fresh.length === 0) return known;
  const all = [...known, ...fresh];
  return all.length > most ? all.slice(all.length - most) : all;
}

/** Puts older lines before those that are known. */
export function prepended(known: Line[], older: Line[]): Line[] {
  const first = new Set(known.slice(0, 2000).map(keyOf));
  return [...older.filter((line) => !first.has(keyOf(line))), ...known];
}

/** The jobs whose tasks printed these: the task `00000001-002-003` is of the job `00000001-002`. */
export function jobsOf(lines: Line[]): Set<string> {
  const tasks = new Set(lines.map((line) => line.task));
  return new Set([...tasks].map((task) => task.slice(0, Math.max(0, task.lastIndexOf('-')))));
}
