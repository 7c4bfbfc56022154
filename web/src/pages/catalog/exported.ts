/** A whole catalog as one document, and what putting it in the place of another changes. */
import { parse } from 'yaml';
import { ENTITY_KINDS, type EntityKind } from '../../lib/route.ts';

export type Exported = Partial<Record<EntityKind, Record<string, unknown>[]>>;

export interface KindChange {
  kind: EntityKind;
  added: string[];
  changed: string[];
  removed: string[];
}

/** Reads a file; throws what is wrong with it. */
export function readExport(text: string): Exported {
  const read: unknown = parse(text);
  const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
  const known = isObject ? ENTITY_KINDS.filter((kind) => Array.isArray((read as Exported)[kind])) : [];
  if (known.length === 0) throw new Error(ENTITY_KINDS.join(', '));
  return read as Exported;
}

const named = (all: Record<string, unknown>[] | undefined) =>
  new Map((all ?? []).map(({ version: _, ...entity }) => [String(entity.name), JSON.stringify(sorted(entity))]));

/** The same whatever the order of its keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const filled = Object.entries(value).filter(([, of]) => of !== null && of !== undefined);
  return Object.fromEntries(filled.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, of]) => [key, sorted(of)]));
}

/** Kinds in which something changes. What is not in the new one goes. */
export function changesOf(before: Exported, after: Exported): KindChange[] {
  return ENTITY_KINDS.map((kind) => {
    const [old, fresh] = [named(before[kind]), named(after[kind])];
    return {
      kind,
      added: [...fresh.keys()].filter((name) => !old.has(name)),
      changed: [...fresh].filter(([name, text]) => old.has(name) && old.get(name) !== text).map(([name]) => name),
      removed: [...old.keys()].filter((name) => !fresh.has(name)),
    };
  }).filter(({ added, changed, removed }) => added.length + changed.length + removed.length > 0);
}
