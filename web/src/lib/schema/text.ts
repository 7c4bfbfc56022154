/** Text that is read: what it says, and where. JSON is YAML. */
import { isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Path } from './schema.ts';

export interface Range {
  from: number;
  to: number;
}

export interface Reading {
  doc: Document;
  /** Why it cannot be read; what could be is there all the same. */
  broken: (Range & { code: string; text: string })[];
}

/** Reads a text, and as much as can be of one that is not whole. */
export function reading(text: string): Reading {
  const doc = parseDocument(text, { prettyErrors: false });
  const broken = doc.errors.map(({ code, message, pos: [from, to] }) => {
    // A key that is there twice is told of at its first letter only, and other things over lines.
    const at = placeAt(doc.contents, from)?.at;
    const end = text.indexOf('\n', from);
    const shown = at?.from === from && at.to > to ? at.to : to;
    return { from, to: end < 0 ? shown : Math.max(from, Math.min(shown, end)), code, text: message };
  });
  return { doc, broken };
}

/** What a text says, where it can be read and is an object. */
export function objectOf({ doc, broken }: Reading): Record<string, unknown> | undefined {
  if (broken.length > 0 || !isMap(doc.contents)) return undefined;
  try {
    return doc.toJS() as Record<string, unknown>;
  } catch {
    // An alias of nothing, or of itself.
    return undefined;
  }
}

export type Value = Node | null;

export const rangeOf = (node: unknown): Range | undefined => {
  const range = (node as Node | null | undefined)?.range;
  return range ? { from: range[0], to: range[1] } : undefined;
};

export const keyOf = (pair: Pair): string => String(isScalar(pair.key) ? pair.key.value : pair.key);

/** A value itself, where another is only named. */
export const valueOf = (doc: Document, node: unknown): Value => (isAlias(node) ? (node.resolve(doc) ?? null) : (node as Value));

export const fieldOf = (map: YAMLMap, name: string): Pair | undefined => map.items.find((pair) => keyOf(pair) === name);

export interface Place {
  path: Path;
  /** Of the key or, in lists, of the value. */
  at: Range;
  isKey: boolean;
}

/** What stands at an offset: a key, or a value that has nothing in it. */
export function placeAt(node: unknown, offset: number, path: Path = []): Place | undefined {
  const holds = (range: Range | undefined): range is Range => range !== undefined && range.from <= offset && offset <= range.to;
  if (isMap(node)) {
    for (const pair of node.items) {
      const at = rangeOf(pair.key);
      const inside = [...path, keyOf(pair)];
      if (holds(at)) return { path: inside, at, isKey: true };
      const found = placeAt(pair.value, offset, inside);
      if (found) return found;
    }
    return undefined;
  }
  if (isSeq(node)) {
    for (const [number, item] of node.items.entries()) {
      const found = placeAt(item, offset, [...path, number]);
      if (found) return found;
    }
    return undefined;
  }
  const at = rangeOf(node);
  return holds(at) && at.to > at.from ? { path, at, isKey: false } : undefined;
}

/** Names between dots may have dots themselves: the longest that is there is the one. */
function longest(map: YAMLMap, parts: readonly string[]): [Pair, number] | undefined {
  for (let length = parts.length; length > 0; length -= 1) {
    const pair = fieldOf(map, parts.slice(0, length).join('.'));
    if (pair) return [pair, length];
  }
  return undefined;
}

/** Where a field is that is named as the server names it, or that in which it is missing. */
export function fieldRange({ doc }: Reading, field: string): Range | undefined {
  let parts = field.replaceAll(/\[(\d+)\]/g, '.$1').split('.').filter(Boolean);
  let node: unknown = doc.contents;
  let found: Range | undefined;
  while (parts.length > 0) {
    const value = valueOf(doc, node);
    if (isMap(value)) {
      const [pair, length] = longest(value, parts) ?? [];
      if (!pair || !length) break;
      found = isScalar(pair.value) && parts.length === length ? (rangeOf(pair.value) ?? found) : rangeOf(pair.key);
      node = pair.value;
      parts = parts.slice(length);
    } else if (isSeq(value)) {
      node = value.items[Number(parts[0])];
      if (node === undefined) break;
      found = rangeOf(node) ?? found;
      parts = parts.slice(1);
    } else break;
  }
  return found;
}
