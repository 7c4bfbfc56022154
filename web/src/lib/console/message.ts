/** Messages between actors, as the console's WebSocket tells them, and how times are written. Nothing of it draws. */
import type { Shapes } from '../api/client.ts';

export type Actor = Shapes['LiveActor'];
export type Tree = Shapes['ActorTree'];
export type Detail = Shapes['ActorDetail'];
export type Latency = Shapes['MessageLatency'];

/** A message that was followed: never what it says. */
export interface Followed {
  at: number;
  to: string;
  from: string | null;
  during: string | null;
  kind: string;
  bytes: number;
  about: string | null;
  correlation: string | null;
  waitedUs: number | null;
  takenUs: number;
  answeredUs: number | null;
  delayed: boolean;
  outcome: string;
}

/** What is followed: messages of actors at or below a path, or those that a request led to. */
export interface Following {
  under?: string;
  correlation?: string;
}

export type Said =
  | { tree: Tree }
  | { detail: Detail }
  | { gone: string }
  | { messages: Followed[]; missed: number }
  | { problem: string };

/** Few digits, as people read them. */
export function duration(us: number): string {
  if (us < 1000) return `${us} µs`;
  if (us < 1_000_000) return `${(us / 1000).toFixed(1)} ms`;
  return `${(us / 1_000_000).toFixed(1)} s`;
}

/** What an actor is called among its like: as people call it, a cluster with its id; or its path, that of a node without its cluster's. */
export function nameOf(actor: Actor): string {
  if (actor.name) return actor.parent ? actor.name : `${actor.name} ${actor.path.slice(actor.path.lastIndexOf('/') + 1)}`;
  return actor.parent && actor.path.startsWith(actor.parent) ? actor.path.slice(actor.parent.length) : actor.path;
}

/** The cluster whose actor or node's actor lives there. */
export const clusterOf = (path: string): string | undefined => /^\/clusters\/(\d+)/.exec(path)?.[1];

/** The newest messages, up to a number. */
export function kept<T>(before: readonly T[], more: readonly T[], most: number): T[] {
  return [...before, ...more].slice(-most);
}

/** A bar for each step of a histogram that has any: where it ends, and how long it is, from 0 to 1. */
export function bars(steps: Shapes['LatencyStep'][]): { belowUs: number; count: number; part: number }[] {
  const most = Math.max(1, ...steps.map((step) => step.count));
  return steps.filter((step) => step.count > 0).map((step) => ({ ...step, part: step.count / most }));
}

/** Those that work, first those whose messages wait, then those that have most of them. */
export const busiest = (actors: Actor[]): Actor[] =>
  actors.filter((actor) => actor.state !== 'passivated').sort((a, b) => b.waiting - a.waiting || b.busy - a.busy || b.perSecond - a.perSecond);
