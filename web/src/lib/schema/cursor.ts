/** Where in an entity something is being typed, in text that is not whole yet. */
import { isMap, isScalar, isSeq, parseDocument, type Document } from 'yaml';
import { keyOf, type Range } from './text.ts';
import type { Path } from './schema.ts';

export interface Cursor {
  /** A key: the path of what gets it. A value: its own. */
  path: Path;
  isKey: boolean;
  /** Keys beside it, or values beside it in a list. */
  beside: readonly string[];
  /** Between braces or brackets. */
  isFlow: boolean;
  /** What is around it. */
  doc: Document;
}

export interface Typed extends Range {
  /** What it may be: an entry of a list may be a value or the first key of an object. */
  cursors: Cursor[];
}

/** Stands for what is being typed. No name is like it. */
const MARK = 'x7cursor7x';
const WORD = /[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u;
const REST = /^[\p{L}\p{N}_.-]*/u;

interface Inside {
  path: Path;
  beside: readonly string[];
  isFlow: boolean;
}

function find(node: unknown, { path, beside, isFlow }: Inside): Omit<Cursor, 'doc'> | undefined {
  if (isScalar(node)) return node.value === MARK ? { path, isKey: false, beside, isFlow } : undefined;
  if (isMap(node)) {
    const flow = isFlow || node.flow === true;
    for (const pair of node.items) {
      const key = keyOf(pair);
      if (key === MARK) return { path, isKey: true, beside: node.items.map(keyOf).filter((one) => one !== MARK), isFlow: flow };
      const found = find(pair.value, { path: [...path, key], beside: [], isFlow: flow });
      if (found) return found;
    }
  }
  if (isSeq(node)) {
    const others = node.items.flatMap((item) => (isScalar(item) && item.value !== MARK ? [String(item.value)] : []));
    for (const [number, item] of node.items.entries()) {
      const found = find(item, { path: [...path, number], beside: others, isFlow: isFlow || node.flow === true });
      if (found) return found;
    }
  }
  return undefined;
}

/** What is typed at an offset, or nothing where it is neither a key nor a value: in a comment, within a sentence. */
export function typedAt(text: string, offset: number): Typed | undefined {
  const from = offset - (WORD.exec(text.slice(Math.max(0, offset - 200), offset))?.[0].length ?? 0);
  const to = offset + (REST.exec(text.slice(offset, offset + 200))?.[0].length ?? 0);
  const before = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  const isAlone = /^[\s-]*$/.test(before) && /^[ \t]*(#.*)?(\r?\n|$)/.test(text.slice(to));
  const cursors: Cursor[] = [];
  // A word that is alone in its line may be a key whose colon is missing still.
  for (const mark of isAlone ? [MARK, `${MARK}:`] : [MARK]) {
    const doc = parseDocument(text.slice(0, from) + mark + text.slice(to), { prettyErrors: false, logLevel: 'silent' });
    const found = find(doc.contents, { path: [], beside: [], isFlow: false });
    if (found && !cursors.some((one) => one.isKey === found.isKey)) cursors.push({ ...found, doc });
  }
  return cursors.length > 0 ? { from, to, cursors } : undefined;
}
