/** What can be written at a place: fields, values, names from the catalog. */
import { stringify, type Document } from 'yaml';
import type { About } from './check.ts';
import type { Cursor, Typed } from './cursor.ts';
import { heldAt } from './plugins.ts';
import { namedByKey, namedByValue, type NamedKind } from './references.ts';
import { shapes, shapesAt, type Path, type Schema, type Shape } from './schema.ts';

export interface Hint {
  text: string;
  isKey: boolean;
  about?: string;
  /** Types that it has, or the only values; of a name, where it is from. */
  types: readonly string[];
  kind?: NamedKind;
  isRequired: boolean;
  isFlow: boolean;
}

const filled = (shape: Shape) => shape.types?.filter((type) => type !== 'null') ?? [];

/** The first that says something of itself. */
const said = (all: readonly Shape[]): string | undefined => all.find(({ description }) => description)?.description;

function field(about: About, name: string, schema: Schema | undefined, isRequired: boolean, isFlow: boolean): Hint {
  const all = schema ? shapes(about.schemas, schema) : [];
  return { text: name, isKey: true, about: said(all), types: [...new Set(all.flatMap(filled))], isRequired, isFlow };
}

/** Every way that the value at a path can be, by the server or by the plugin that takes it. */
function ways(about: About, path: Path, doc: Document): Shape[] {
  const taken = heldAt(about.plugins ?? {}, about.kind, path, doc);
  return taken ? shapesAt(about.schemas, taken.schema, taken.path) : shapesAt(about.schemas, about.root, path);
}

function keys(about: About, { path, beside, isFlow, doc }: Cursor): Hint[] {
  const hints = ways(about, path, doc).flatMap((shape) => {
    const named = [...shape.fields].map(([name, schema]) => field(about, name, schema, shape.required.has(name), isFlow));
    if (typeof shape.others !== 'object') return named;
    const others = shape.others;
    const allowed = shape.keys ? shapes(about.schemas, shape.keys).flatMap(({ values }) => values ?? []) : [];
    const kind = namedByKey(about.kind, [...path, '']);
    const known = kind ? (about.names[kind] ?? []) : [];
    return [...named, ...[...allowed.map(String), ...known].map((name) => ({ ...field(about, name, others, false, isFlow), kind }))];
  });
  return hints.filter(({ text }) => !beside.includes(text));
}

function values(about: About, { path, beside, isFlow, doc }: Cursor): Hint[] {
  const of = (text: string, shape?: Shape, kind?: NamedKind): Hint => ({ text, isKey: false, about: shape && said([shape]), types: [], kind, isRequired: false, isFlow });
  const choices = ways(about, path, doc).flatMap((shape) => {
    if (shape.values) return shape.values.filter((value) => value !== null).map((value) => of(String(value), shape));
    return shape.types?.includes('boolean') ? [of('true', shape), of('false', shape)] : [];
  });
  const kind = namedByValue(about.kind, path);
  const known = kind ? (about.names[kind] ?? []).map((name) => of(name, undefined, kind)) : [];
  return [...choices, ...known.filter(({ text }) => !beside.includes(text))];
}

/** What can be written where something is typed. */
export const hints = (typed: Typed, about: About): Hint[] => typed.cursors.flatMap((cursor) => (cursor.isKey ? keys : values)(about, cursor));

export interface Insertion {
  from: number;
  to: number;
  text: string;
  /** Where it is typed on, in the text that is inserted. */
  cursor: number;
}

/** What stands behind the colon, and how much of it stands before the cursor. */
function opened(hint: Hint, isJson: boolean, indent: string): [string, number] {
  const [only] = hint.types.length === 1 ? hint.types : [];
  const pair = only === 'object' ? '{}' : only === 'array' ? '[]' : only === 'string' && isJson ? '""' : '';
  if (hint.isFlow || isJson) return [` ${pair}`, pair ? 2 : 1];
  const lines = only === 'object' ? `\n${indent}  ` : only === 'array' ? `\n${indent}  - ` : ' ';
  return [lines, lines.length];
}

/** Writes a hint in place of what is typed. */
export function inserted(hint: Hint, text: string, from: number, to: number, isJson: boolean): Insertion {
  const quote = /["']/.exec(text[from - 1] ?? '')?.[0];
  const isQuoted = quote !== undefined;
  const isClosed = isQuoted && text[to] === quote;
  const word = isJson ? JSON.stringify(hint.text) : isQuoted ? `${quote}${hint.text}${quote}` : stringify(hint.text).trim();
  const begin = isQuoted ? from - 1 : from;
  const end = isClosed ? to + 1 : to;
  const rest = text.slice(end);
  const comma = isJson && /^\s*["{[]/.test(rest) ? ',' : '';
  if (/^[ \t]*:/.test(rest)) return { from: begin, to: end, text: word, cursor: word.length };
  if (!hint.isKey) return { from: begin, to: end, text: word + comma, cursor: word.length };
  const line = text.slice(text.lastIndexOf('\n', begin - 1) + 1, begin);
  const [behind, before] = opened(hint, isJson, line.replaceAll(/\S/g, ' '));
  return { from: begin, to: end, text: `${word}:${behind}${comma}`, cursor: word.length + 1 + before };
}

export interface Told {
  path: Path;
  about?: string;
  types: readonly string[];
  values: readonly string[];
  initial?: unknown;
}

/** What is to be known of the field at a path. */
export function told(about: About, path: Path, doc: Document): Told | undefined {
  const all = ways(about, path, doc);
  if (all.length === 0) return undefined;
  const values = all.flatMap((shape) => shape.values ?? []).filter((value) => value !== null).map(String);
  const initial = all.map((shape) => shape.initial).find((one) => one !== undefined && one !== null);
  return { path, about: said(all), types: [...new Set(all.flatMap(filled))], values, initial };
}
