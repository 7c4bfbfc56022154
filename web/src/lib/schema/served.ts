/** What the server describes, and what its catalog holds: asked for when an editor opens. */
import { send } from '../api/client.ts';
import type { EntityKind } from '../route.ts';
import type { About } from './check.ts';
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

/** Names of a kind; none where they may not be seen, so that nothing is said of them. */
async function namesOf(kind: NamedKind): Promise<readonly string[] | undefined> {
  const all = await send<{ name: string }[]>('GET', addressOf(kind)).catch(() => undefined);
  return all && (kind === 'services' ? answersTo(all) : all.map(({ name }) => name));
}

/** What an entity of a kind is checked against. Throws where the server does not describe it. */
export async function about(kind: EntityKind): Promise<About> {
  const [all, ...lists] = await Promise.all([schemas(), ...NAMED_KINDS.map(namesOf)]);
  const root = all[SCHEMA_OF[kind]];
  if (!root) throw new Error(SCHEMA_OF[kind]);
  const names: Names = Object.fromEntries(NAMED_KINDS.map((one, at) => [one, lists[at]]));
  return { schemas: all, root, kind, names };
}
