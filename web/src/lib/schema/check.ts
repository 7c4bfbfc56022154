/** What is wrong with an entity as it is written, each fault at its place. The last word is the server's. */
import { isMap, isScalar, isSeq, type Document, type YAMLMap, type YAMLSeq } from 'yaml';
import type { EntityKind } from '../route.ts';
import { nearest } from './nearest.ts';
import { held, type Plugins } from './plugins.ts';
import { namedByKey, namedByValue, type NamedKind, type Names } from './references.ts';
import { isOpen, ofField, pathText, shapes, type Path, type Schema, type Schemas, type Shape } from './schema.ts';
import { fieldRange, keyOf, rangeOf, valueOf, type Range, type Reading } from './text.ts';

/** What is wrong, in the terms that it is said in. */
export type Wrong =
  | { is: 'broken'; code: string; text: string }
  | { is: 'type'; expected: readonly string[] }
  | { is: 'quotes' }
  | { is: 'missing'; field: string }
  | { is: 'unknown'; field: string; near?: string; isRefused: boolean }
  | { is: 'foreign'; field: string; near?: string }
  | { is: 'choice'; of: readonly string[]; near?: string }
  | { is: 'least'; least: number }
  | { is: 'most'; most: number }
  | { is: 'twice' }
  | { is: 'nowhere'; kind: NamedKind; near?: string }
  | { is: 'refused'; text: string };

export interface Fault extends Range {
  severity: 'error' | 'warning';
  path: string;
  value?: string;
  wrong: Wrong;
}

/** What a text is checked against, and completed from. */
export interface About {
  schemas: Schemas;
  root: Schema;
  /** Of an entity: what its fields name. */
  kind?: EntityKind;
  names: Names;
  plugins?: Plugins;
}

type Type = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null';

function typeOf(node: unknown): Type {
  if (isMap(node)) return 'object';
  if (isSeq(node)) return 'array';
  const value = isScalar(node) ? node.value : null;
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as Type;
  return 'null';
}

/** Whether a value can be read as one of some types. The server reads numbers and truths that are written as text. */
function fits(type: Type, types: readonly string[] | undefined, node: unknown): boolean {
  if (!types || types.includes(type) || (type === 'integer' && types.includes('number'))) return true;
  if (type !== 'string' || !isScalar(node)) return false;
  const text = String(node.value).trim();
  if (types.includes('integer') && /^[+-]?\d+$/.test(text)) return true;
  return types.includes('boolean') && /^(true|false)$/i.test(text);
}

const isPlain = (type: Type) => type === 'integer' || type === 'number' || type === 'boolean';
const isHolder = (types: readonly string[] | undefined) => types?.includes('array') === true || types?.includes('object') === true;

class Check {
  faults: Fault[] = [];

  constructor(
    private readonly doc: Document,
    private readonly about: About,
  ) {}

  private tell(at: Range, path: Path, wrong: Wrong, severity: Fault['severity'] = 'error', value?: unknown): void {
    this.faults.push({ ...at, severity, path: pathText(path), value: value === undefined ? undefined : String(value), wrong });
  }

  /** `beside` is where faults are shown of what takes no room itself. */
  value(given: unknown, schema: Schema, path: Path, beside: Range): void {
    const node = valueOf(this.doc, given);
    const type = typeOf(node);
    // To the server, nothing is the same as not there.
    if (type === 'null') return;
    const all = shapes(this.about.schemas, schema);
    const fitting = all.filter((shape) => fits(type, shape.types, node));
    const at = (isScalar(node) ? rangeOf(given) : undefined) ?? beside;
    const [only] = fitting;
    if (!only) {
      const expected = [...new Set(all.flatMap((shape) => shape.types ?? []))].filter((one) => one !== 'null');
      const isText = isPlain(type) && expected.includes('string');
      const value = isScalar(node) ? node.value : undefined;
      if (isText) this.tell(at, path, { is: 'quotes' }, 'warning', value);
      else this.tell(at, path, { is: 'type', expected }, 'error', value);
    } else if (fitting.length === 1) this.shaped(node, only, path, at);
    else this.best(node, fitting, path, at);
  }

  /** Of several ways that a value may be meant, the one with which least is wrong. */
  private best(node: unknown, fitting: Shape[], path: Path, at: Range): void {
    const tried = fitting.map((shape) => {
      const one = new Check(this.doc, this.about);
      one.shaped(node, shape, path, at);
      return one.faults;
    });
    this.faults.push(...(tried.sort((a, b) => a.length - b.length)[0] ?? []));
  }

  private shaped(node: unknown, shape: Shape, path: Path, at: Range): void {
    if (isMap(node)) this.object(node, shape, path, at);
    else if (isSeq(node)) this.list(node, shape, path, at);
    else if (isScalar(node)) this.scalar(node.value, shape, path, at);
  }

  private object(map: YAMLMap, shape: Shape, path: Path, beside: Range): void {
    this.plugin(map, path);
    const there = new Set<string>();
    for (const pair of map.items) {
      const name = keyOf(pair);
      const at = rangeOf(pair.key) ?? beside;
      if (typeOf(valueOf(this.doc, pair.value)) !== 'null') there.add(name);
      const schema = ofField(shape, name);
      if (!shape.fields.has(name)) this.key(name, shape, [...path, name], at);
      if (schema) this.value(pair.value, schema, [...path, name], at);
    }
    for (const field of shape.required) {
      // A list or object that is left out is an empty one.
      const isEmpty = shapes(this.about.schemas, shape.fields.get(field) ?? {}).some(({ types }) => isHolder(types));
      if (!there.has(field) && !isEmpty) this.tell(rangeOf(map.items.find((pair) => keyOf(pair) === field)?.key) ?? beside, path, { is: 'missing', field });
    }
  }

  /** Fields that the plugin does not have that is to use them. The server keeps them, and nobody reads them. */
  private plugin(map: YAMLMap, path: Path): void {
    const found = held(this.about.plugins ?? {}, this.about.kind, path, map);
    const taken = found && valueOf(this.doc, map.get(found.in, true));
    if (!found || !isMap(taken)) return;
    const known = Object.keys(found.schema.properties ?? {});
    for (const pair of taken.items) {
      const field = keyOf(pair);
      const at = rangeOf(pair.key);
      if (at && !known.includes(field)) this.tell(at, [...path, found.in, field], { is: 'foreign', field, near: nearest(field, known) }, 'warning');
    }
  }

  /** A key that is no field. */
  private key(name: string, shape: Shape, path: Path, at: Range): void {
    if (typeof shape.others === 'object') {
      const allowed = shape.keys && shapes(this.about.schemas, shape.keys).flatMap(({ values }) => values ?? []).map(String);
      if (allowed?.length && !allowed.includes(name)) this.tell(at, path, { is: 'choice', of: allowed, near: nearest(name, allowed) }, 'error', name);
      this.named(name, namedByKey(this.about.kind, path), path, at);
    } else if (!isOpen(shape)) {
      const isRefused = shape.others === false;
      this.tell(at, path, { is: 'unknown', field: name, near: nearest(name, [...shape.fields.keys()]), isRefused }, isRefused ? 'error' : 'warning');
    }
  }

  private list(list: YAMLSeq, shape: Shape, path: Path, beside: Range): void {
    const seen = new Set<unknown>();
    for (const [number, item] of list.items.entries()) {
      const at = rangeOf(item) ?? beside;
      const node = valueOf(this.doc, item);
      if (shape.isSet && isScalar(node)) {
        if (seen.has(node.value)) this.tell(at, [...path, number], { is: 'twice' }, 'warning', node.value);
        seen.add(node.value);
      }
      if (shape.items) this.value(item, shape.items, [...path, number], firstOf(item) ?? at);
    }
  }

  private scalar(value: unknown, shape: Shape, path: Path, at: Range): void {
    const choice = shape.values?.filter((one) => one !== null).map(String);
    if (choice && !choice.includes(String(value))) this.tell(at, path, { is: 'choice', of: choice, near: nearest(String(value), choice) }, 'error', value);
    const isNumber = shape.types?.some((type) => type === 'integer' || type === 'number');
    if (isNumber && shape.least !== undefined && Number(value) < shape.least) this.tell(at, path, { is: 'least', least: shape.least }, 'error', value);
    if (isNumber && shape.most !== undefined && Number(value) > shape.most) this.tell(at, path, { is: 'most', most: shape.most }, 'error', value);
    if (typeof value === 'string') this.named(value, namedByValue(this.about.kind, path), path, at);
  }

  private named(name: string, kind: NamedKind | undefined, path: Path, at: Range): void {
    const known = kind && this.about.names[kind];
    if (known && !known.includes(name)) this.tell(at, path, { is: 'nowhere', kind, near: nearest(name, known) }, 'warning', name);
  }
}

/** Faults of what has fields are shown at the first of them. */
function firstOf(node: unknown): Range | undefined {
  return isMap(node) ? rangeOf(node.items[0]?.key) : undefined;
}

/** Why a text cannot be read. */
export const brokenFaults = (read: Reading): Fault[] => read.broken.map(({ from, to, code, text }) => ({ from, to, severity: 'error', path: '', wrong: { is: 'broken', code, text } }));

/** Every fault of an entity, in the order of the text. */
export function check(read: Reading, about: About): Fault[] {
  const check = new Check(read.doc, about);
  const start = firstOf(read.doc.contents) ?? { from: 0, to: 0 };
  // What is not there at all is checked as what has no fields.
  check.value(read.doc.contents ?? read.doc.createNode({}), about.root, [], start);
  // What is read where the text is broken says nothing.
  const readable = check.faults.filter((fault) => !read.broken.some(({ from, to }) => fault.from <= to && from <= fault.to));
  return [...brokenFaults(read), ...readable].sort((a, b) => a.from - b.from);
}

/** What the server refused, at the field that it names; at the start where that is not found. */
export function refusal(problem: { message: string; field?: string }, read: Reading): Fault[] {
  const at = (problem.field && fieldRange(read, problem.field)) || { from: 0, to: 0 };
  return [{ ...at, severity: 'error', path: '', wrong: { is: 'refused', text: problem.message } }];
}
