/** Services and what they need, as a picture. */
import { Graph, layout } from '@dagrejs/dagre';
import { needs, type Entity } from './entity.ts';

export interface ServiceBox {
  name: string;
  x: number;
  y: number;
}

export interface ServiceLine {
  from: string;
  to: string;
  /** Whether one cannot do without the other. */
  isNeeded: boolean;
  path: string;
}

export interface ServicePicture {
  boxes: ServiceBox[];
  lines: ServiceLine[];
  width: number;
  height: number;
}

export const BOX = { width: 148, height: 36 };

/** The services that meet a need: the one of this name, and those that provide it. */
const meeting = (services: Entity[], name: string): string[] =>
  services.filter((one) => one.name === name || one.dependencies?.provides?.includes(name)).map((one) => one.name);

/** From each service to those it needs; what it cannot do without stands over what it only uses. */
export function edges(services: Entity[]): Omit<ServiceLine, 'path'>[] {
  const found = new Map<string, Omit<ServiceLine, 'path'>>();
  for (const service of services) {
    for (const need of needs(service)) {
      for (const to of meeting(services, need.name)) {
        if (to === service.name) continue;
        const isNeeded = need.how.endsWith('requires') || (found.get(`${service.name}>${to}`)?.isNeeded ?? false);
        found.set(`${service.name}>${to}`, { from: service.name, to, isNeeded });
      }
    }
  }
  return [...found.values()];
}

export function picture(services: Entity[]): ServicePicture {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 56, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of services) graph.setNode(name, { ...BOX });
  const found = edges(services);
  for (const { from, to } of found) graph.setEdge(from, to);
  layout(graph);
  const { width, height } = graph.graph();
  const place = (name: string) => graph.node(name) as { x: number; y: number };
  return {
    boxes: services.map(({ name }) => ({ name, x: place(name).x - BOX.width / 2, y: place(name).y - BOX.height / 2 })),
    lines: found.map((line) => {
      const { points } = graph.edge(line.from, line.to) as { points: { x: number; y: number }[] };
      return { ...line, path: points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x},${y}`).join('') };
    }),
    width: width ?? 0,
    height: height ?? 0,
  };
}
