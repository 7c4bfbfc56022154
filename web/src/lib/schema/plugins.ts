/** What plugins take, by their own descriptions: entities hold it without knowing it. */
import { isMap, type Document, type YAMLMap } from 'yaml';
import { namedByValue, type NamedKind } from './references.ts';
import type { EntityKind } from '../route.ts';
import type { Path, Schema } from './schema.ts';
import { valueOf } from './text.ts';

type PluginKind = Extract<NamedKind, 'providertypes' | 'automatortypes'>;
/** Schemas of what each plugin takes, by its name. */
export type Plugins = Partial<Record<PluginKind, Readonly<Record<string, Schema>>>>;

/** Which field names the plugin, and which beside it holds what that takes. */
const HELD: Record<PluginKind, { by: string; in: string }> = {
  providertypes: { by: 'providertype', in: 'provisioner' },
  automatortypes: { by: 'type', in: 'fields' },
};

interface Described {
  label?: string;
  tip?: string;
  options?: unknown[] | null;
  default?: unknown;
}

export interface PluginType {
  name: string;
  parameters?: Partial<Record<'admin' | 'user', { fields?: Record<string, Described> }>>;
}

/** What a plugin takes from admins and users. */
export function takenBy({ parameters }: PluginType): Schema {
  const fields = Object.entries({ ...parameters?.user?.fields, ...parameters?.admin?.fields });
  const schema = ({ label, tip, options, default: initial }: Described): Schema => ({
    description: [label, tip].filter(Boolean).join('. '),
    enum: options ?? undefined,
    default: initial ?? undefined,
  });
  return { type: 'object', properties: Object.fromEntries(fields.map(([name, field]) => [name, schema(field)])) };
}

/** The field that holds what a plugin takes, and its schema, where an object names a plugin that is known. */
export function held(plugins: Plugins, kind: EntityKind | undefined, path: Path, map: YAMLMap): { in: string; schema: Schema } | undefined {
  for (const of of ['providertypes', 'automatortypes'] as const) {
    if (namedByValue(kind, [...path, HELD[of].by]) !== of) continue;
    const schema = plugins[of]?.[String(map.get(HELD[of].by))];
    if (schema) return { in: HELD[of].in, schema };
  }
  return undefined;
}

/** The schema of what a plugin takes at a path or around it, and the path within that. */
export function heldAt(plugins: Plugins, kind: EntityKind | undefined, path: Path, doc: Document): { schema: Schema; path: Path } | undefined {
  for (const [depth, part] of path.entries()) {
    const map = depth === 0 ? doc.contents : valueOf(doc, doc.getIn(path.slice(0, depth), true));
    const found = isMap(map) ? held(plugins, kind, path.slice(0, depth), map) : undefined;
    if (found && found.in === part) return { schema: found.schema, path: path.slice(depth + 1) };
  }
  return undefined;
}
