/** What the server describes, and what its catalog holds: asked for when an editor opens. */
import { send } from '../api/client.ts';
import type { EntityKind } from '../route.ts';
import type { About } from './check.ts';
import { takenBy, type PluginType, type Plugins } from './plugins.ts';
import { answersTo, NAMED_KINDS, type NamedKind, type Names } from './references.ts';
import { SCHEMA_OF, type Schemas } from './schema.ts';

let described: Promise<Schemas> | undefined;

/** The schemas of the server, asked for once. */
function schemas(): Promise<Schemas> {
  described ??= send<{ components?: { schemas?: Schemas } }>('GET', '/v2/openapi.json').then(
    ({ components }) => components?.schemas ?? {},
    (fault) => {
      described = undefined;
      throw fault;
    },
  );
  return described;
}

const addressOf = (kind: NamedKind) => (kind === 'providertypes' || kind === 'automatortypes' ? `/v2/plugins/${kind}` : `/v2/${kind}`);

/** What there is of a kind; nothing where that may not be seen, so that nothing is said of it. */
const listed = (kind: NamedKind) => send<PluginType[]>('GET', addressOf(kind)).catch(() => undefined);

const namesOf = (kind: NamedKind, all: PluginType[] | undefined) => all && (kind === 'services' ? answersTo(all) : all.map(({ name }) => name));
const schemasOf = (all: PluginType[] | undefined) => all && Object.fromEntries(all.map((one) => [one.name, takenBy(one)]));

/** What an entity of a kind is checked against. Throws where the server does not describe it. */
export async function about(kind: EntityKind): Promise<About> {
  const [all, ...lists] = await Promise.all([schemas(), ...NAMED_KINDS.map(listed)]);
  const root = all[SCHEMA_OF[kind]];
  if (!root) throw new Error(SCHEMA_OF[kind]);
  const names: Names = Object.fromEntries(NAMED_KINDS.map((one, at) => [one, namesOf(one, lists[at])]));
  const of = (kind: NamedKind) => schemasOf(lists[NAMED_KINDS.indexOf(kind)]);
  const plugins: Plugins = { providertypes: of('providertypes'), automatortypes: of('automatortypes') };
  return { schemas: all, root, kind, names, plugins };
}
