/** When each step is, or is to be: one at a time on each node, none before those it waits for, and first what decides the end. */
import type { Step } from './step.ts';

export interface Span {
  from: number;
  to: number;
}

/** How long it takes from the begin of each step to the end of all. */
export function ranks(steps: Step[]): Map<string, number> {
  const followers = new Map<string, Step[]>();
  for (const step of steps) {
    for (const before of step.after) followers.set(before, [...(followers.get(before) ?? []), step]);
  }
  const found = new Map<string, number>();
  const open = steps.map((step) => ({ step, isEntered: false }));
  while (open.length > 0) {
    const top = open.pop()!;
    if (found.has(top.step.id)) continue;
    const next = followers.get(top.step.id) ?? [];
    const unknown = next.filter((step) => !found.has(step.id));
    if (unknown.length > 0 && !top.isEntered) {
      open.push({ step: top.step, isEntered: true }, ...unknown.map((step) => ({ step, isEntered: false })));
      continue;
    }
    const rest = Math.max(0, ...next.map((step) => found.get(step.id) ?? 0));
    found.set(top.step.id, top.step.estimate + rest);
  }
  return found;
}

/** As it was foreseen: every step as long as its like, from `start` on. */
export const planned = (steps: Step[], start: number): Map<string, Span> =>
  run(steps.map((step) => ({ ...step, begun: undefined, ended: undefined, state: 'waiting' })), start);

/** As it is, and what is still to come from `now` on. */
export const expected = (steps: Step[], now: number): Map<string, Span> => run(steps, now);

function run(steps: Step[], now: number): Map<string, Span> {
  const spans = new Map<string, Span>();
  const free = new Map<string, number>();
  const occupy = (step: Step, span: Span) => {
    spans.set(step.id, span);
    free.set(step.node, Math.max(free.get(step.node) ?? now, span.to));
  };
  for (const step of steps) {
    if (step.begun === undefined || step.state === 'waiting') continue;
    const to = step.ended ?? Math.max((step.attempts.at(-1)?.from ?? step.begun) + step.estimate, now);
    occupy(step, { from: step.begun, to });
  }
  const rank = ranks(steps);
  const missing = new Map<string, number>();
  const followers = new Map<string, Step[]>();
  const known = new Set(steps.map((step) => step.id));
  /** Steps that wait for no other, and from when on. */
  const ready: { step: Step; at: number; urgency: number }[] = [];
  const enter = (step: Step) => {
    const at = step.after.reduce((latest, id) => Math.max(latest, spans.get(id)?.to ?? now), now);
    ready.push({ step, at, urgency: step.isCritical ? Number.MAX_SAFE_INTEGER : (rank.get(step.id) ?? 0) });
  };
  for (const step of steps) {
    if (spans.has(step.id)) continue;
    const before = step.after.filter((id) => known.has(id) && !spans.has(id));
    missing.set(step.id, before.length);
    for (const id of before) followers.set(id, [...(followers.get(id) ?? []), step]);
    if (before.length === 0) enter(step);
  }
  while (ready.length > 0) {
    let [best, from] = [0, Infinity];
    ready.forEach(({ step, at, urgency }, place) => {
      const begin = Math.max(at, free.get(step.node) ?? now);
      if (begin < from || (begin === from && urgency > ready[best]!.urgency)) [best, from] = [place, begin];
    });
    const [{ step }] = ready.splice(best, 1) as [(typeof ready)[number]];
    occupy(step, { from, to: from + step.estimate });
    for (const next of followers.get(step.id) ?? []) {
      const left = (missing.get(next.id) ?? 1) - 1;
      missing.set(next.id, left);
      if (left === 0) enter(next);
    }
  }
  return spans;
}

/** A part of a step in the picture. */
export interface Piece extends Span {
  /** Whether it was tried in vain, and tried again. */
  isVain: boolean;
  /** Whether it is still to come. */
  isFuture: boolean;
}

/** What is drawn of a step: each attempt by itself, for between them its node was free for others, and what is to come. */
export function pieces(step: Pick<Step, 'state' | 'attempts'>, span: Span): Piece[] {
  const isFuture = step.state === 'waiting';
  const before = (isFuture ? step.attempts : step.attempts.slice(0, -1)).map(({ from, to }) => ({ from, to: to ?? from, isVain: true, isFuture: false }));
  const from = isFuture ? span.from : (step.attempts.at(-1)?.from ?? span.from);
  return [...before, { from, to: span.to, isVain: false, isFuture }];
}

/** The first begin and the last end. */
export function extent(spans: Iterable<Span>): Span | undefined {
  let found: Span | undefined;
  for (const { from, to } of spans) {
    found = found ? { from: Math.min(found.from, from), to: Math.max(found.to, to) } : { from, to };
  }
  return found;
}
