/** What nodes are called where there is little room. */
import type { Shapes } from '../api/client.ts';

type Node = Shapes['Node'];

/** A name in so many letters: nodes of a cluster differ at their end, so that the begin goes. */
export const ending = (name: string, most: number): string => (name.length <= most ? name : `…${name.slice(1 - most)}`);

/** What is done and where, in so many letters: what is done is read whole, and so is the end of the name. */
export const fitted = (what: string, name: string, most: number): string => `${ending(name, Math.max(6, most - what.length - 1))} ${what}`;

/** `demo1-1000.local` is `1000` beside others of its cluster. */
export function nodeNames(nodes: Node[]): Map<string, string> {
  return new Map(nodes.map((node) => [node.id, node.properties?.hostname?.replace(/\.local$/, '') ?? node.id.slice(0, 8)]));
}
