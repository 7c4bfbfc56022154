/** Where the steps of a plan stand in its picture, and the lines between them. */
import { Graph, layout } from '@dagrejs/dagre';
import type { Step, StepState } from './step.ts';
import { title } from './step.ts';

/** A box: one step, or the same step on several nodes. */
export interface Box {
  id: string;
  title: string;
  name: string;
  service: string;
  steps: Step[];
  isCritical: boolean;
  x: number;
  y: number;
}

export interface Line {
  from: string;
  to: string;
  path: string;
  isCritical: boolean;
}

export interface Picture {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

export const BOX = { width: 168, height: 48 };
/** More steps than this are shown by kind unless asked for. */
export const MANY = 30;

/** How a box as a whole is. One of which a part is done waits for the rest: nothing may run any more. */
export function stateOf(steps: Step[]): StepState {
  const has = (state: StepState) => steps.some((step) => step.state === state);
  if (has('failed')) return 'failed';
  if (has('running')) return 'running';
  return steps.every((step) => step.state === 'done') ? 'done' : 'waiting';
}

/** The same steps of different nodes as one each. */
export function byKind(steps: Step[]): { boxes: Omit<Box, 'x' | 'y'>[]; edges: [string, string][] } {
  const boxes = new Map<string, Omit<Box, 'x' | 'y'>>();
  const keys = new Map<string, string>();
  for (const step of steps) {
    const key = title(step);
    keys.set(step.id, key);
    const box = boxes.get(key) ?? { id: key, title: key, name: step.name, service: step.service, steps: [], isCritical: false };
    box.steps.push(step);
    box.isCritical ||= step.isCritical;
    boxes.set(key, box);
  }
  const edges = new Map<string, [string, string]>();
  for (const step of steps) {
    for (const before of step.after) {
      const [from, to] = [keys.get(before), keys.get(step.id)!];
      if (from && from !== to) edges.set(`${from}>${to}`, [from, to]);
    }
  }
  return { boxes: [...boxes.values()], edges: [...edges.values()] };
}

function each(steps: Step[]): ReturnType<typeof byKind> {
  const boxes = steps.map((step) => ({
    id: step.id,
    title: title(step),
    name: step.name,
    service: step.service,
    steps: [step],
    isCritical: step.isCritical,
  }));
  const known = new Set(steps.map((step) => step.id));
  const edges = steps.flatMap((step) => step.after.filter((id) => known.has(id)).map((id): [string, string] => [id, step.id]));
  return { boxes, edges };
}

/** How much a picture is made smaller so that all of it is seen. */
export const fitting = (picture: Pick<Picture, 'width' | 'height'>, room: { width: number; height: number }): number =>
  Math.min(1, room.width / Math.max(1, picture.width), room.height / Math.max(1, picture.height));

/** From left to right or from top to bottom, whichever is seen larger in the room there is. */
export function picture(steps: Step[], isByKind: boolean, room: { width: number; height: number }): Picture {
  const { boxes, edges } = isByKind ? byKind(steps) : each(steps);
  const [across, down] = [laidOut(boxes, edges, 'LR'), laidOut(boxes, edges, 'TB')];
  return fitting(down, room) > fitting(across, room) ? down : across;
}

function laidOut(boxes: Omit<Box, 'x' | 'y'>[], edges: [string, string][], rankdir: 'LR' | 'TB'): Picture {
  const graph = new Graph();
  graph.setGraph({ rankdir, nodesep: 16, ranksep: rankdir === 'LR' ? 32 : 30, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.id, { ...BOX });
  for (const [from, to] of edges) graph.setEdge(from, to);
  layout(graph);
  const critical = new Set(boxes.filter((box) => box.isCritical).map((box) => box.id));
  const size = graph.graph();
  return {
    boxes: boxes.map((box) => ({ ...box, x: (graph.node(box.id) as { x: number }).x - BOX.width / 2, y: (graph.node(box.id) as { y: number }).y - BOX.height / 2 })),
    lines: edges.map(([from, to]) => ({
      from,
      to,
      path: curve((graph.edge(from, to) as { points: { x: number; y: number }[] }).points, rankdir),
      isCritical: critical.has(from) && critical.has(to),
    })),
    width: size.width ?? 0,
    height: size.height ?? 0,
  };
}

/** A smooth line through points. */
function curve(points: { x: number; y: number }[], rankdir: 'LR' | 'TB'): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first.x},${first.y}`;
  let last = first;
  for (const point of rest) {
    const [x, y] = [(last.x + point.x) / 2, (last.y + point.y) / 2];
    path += rankdir === 'LR' ? `C${x},${last.y} ${x},${point.y} ${point.x},${point.y}` : `C${last.x},${y} ${point.x},${y} ${point.x},${point.y}`;
    last = point;
  }
  return path;
}
