/** JSON schemas as the server's description has them: references followed, parts put together, walked along a path. */
import type { EntityKind } from '../route.ts';

/** What each kind is called there. */
export const SCHEMA_OF: Record<EntityKind, string> = {
  clustertemplates: 'ClusterTemplate',
  partialtemplates: 'PartialTemplate',
  services: 'Service',
  providers: 'Provider',
  hardwaretypes: 'HardwareType',
  imagetypes: 'ImageType',
};

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  enum?: unknown[];
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
  uniqueItems?: boolean;
  default?: unknown;
  format?: string;
}

/** By name, as under `components.schemas`. */
export type Schemas = Record<string, Schema>;
/** Keys of objects and places in lists, from the outside in. */
export type Path = readonly (string | number)[];

/** One way that a value can be. */
export interface Shape {
  /** Absent: of any type. */
  types?: readonly string[];
  description?: string;
  fields: ReadonlyMap<string, Schema>;
  required: ReadonlySet<string>;
  /** What fields that are not named have; `false`: there are none, absent: nothing is said. */
  others?: boolean | Schema;
  /** What keys have to be. */
  keys?: Schema;
  items?: Schema;
  values?: readonly unknown[];
  least?: number;
  most?: number;
  isSet: boolean;
  initial?: unknown;
}

const REFERENCE = '#/components/schemas/';

function own(schema: Schema): Shape {
  return {
    types: typeof schema.type === 'string' ? [schema.type] : schema.type,
    description: schema.description,
    fields: new Map(Object.entries(schema.properties ?? {})),
    required: new Set(schema.required),
    others: schema.additionalProperties,
    keys: schema.propertyNames,
    items: schema.items,
    values: schema.enum,
    least: schema.minimum,
    most: schema.maximum,
    isSet: schema.uniqueItems === true,
    initial: schema.default,
  };
}

/** Both at once; what the first says of itself is what is said. */
function joined(a: Shape, b: Shape): Shape {
  return {
    types: a.types && b.types ? a.types.filter((type) => b.types?.includes(type)) : (a.types ?? b.types),
    description: a.description ?? b.description,
    fields: new Map([...a.fields, ...b.fields, ...a.fields]),
    required: new Set([...a.required, ...b.required]),
    others: a.others ?? b.others,
    keys: a.keys ?? b.keys,
    items: a.items ?? b.items,
    values: a.values && b.values ? a.values.filter((value) => b.values?.includes(value)) : (a.values ?? b.values),
    least: a.least ?? b.least,
    most: a.most ?? b.most,
    isSet: a.isSet || b.isSet,
    initial: a.initial ?? b.initial,
  };
}

/** A schema is part of one description, and the same for as long as that is there. */
const known = new WeakMap<Schema, Shape[]>();

/** Every way that a value of a schema can be. */
export function shapes(all: Schemas, schema: Schema): Shape[] {
  const before = known.get(schema);
  if (before) return before;
  const found = put(all, schema);
  known.set(schema, found);
  return found;
}

function put(all: Schemas, schema: Schema): Shape[] {
  const parts: Shape[][] = [[own(schema)]];
  const named = schema.$ref?.startsWith(REFERENCE) ? all[schema.$ref.slice(REFERENCE.length)] : undefined;
  if (named) parts.push(shapes(all, named));
  for (const part of schema.allOf ?? []) parts.push(shapes(all, part));
  for (const choice of [schema.oneOf, schema.anyOf]) if (choice) parts.push(choice.flatMap((one) => shapes(all, one)));
  return parts.reduce((found, part) => found.flatMap((a) => part.map((b) => joined(a, b))));
}

/** Whether a shape lets in fields of any name. */
export const isOpen = (shape: Shape): boolean => shape.others === true || (shape.others === undefined && shape.fields.size === 0);

/** The schema of a field: its own, or that of fields without one. */
export const ofField = (shape: Shape, name: string): Schema | undefined =>
  shape.fields.get(name) ?? (typeof shape.others === 'object' ? shape.others : undefined);

/** Every way that the value at a path can be. */
export function shapesAt(all: Schemas, root: Schema, path: Path): Shape[] {
  return path.reduce<Shape[]>((found, part) => {
    const inside = found.map((shape) => (typeof part === 'number' ? shape.items : ofField(shape, part)));
    return inside.flatMap((schema) => (schema ? shapes(all, schema) : []));
  }, shapes(all, root));
}

/** A path as people write it: `links[0].url`. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`), '');

/** What a configuration may be like, by one that is there: its fields are offered, and none are asked for or refused. */
export function likeness(example: unknown): Schema {
  if (typeof example !== 'object' || example === null) return { description: JSON.stringify(example) };
  if (Array.isArray(example)) return {};
  const fields = Object.entries(example).map(([name, value]) => [name, likeness(value)] as const);
  return { type: 'object', properties: Object.fromEntries(fields), additionalProperties: true };
}
