/** Where entities name others. */
import type { EntityKind } from '../route.ts';
import type { Path } from './schema.ts';

export const NAMED_KINDS = ['clustertemplates', 'partialtemplates', 'services', 'providers', 'hardwaretypes', 'imagetypes', 'providertypes', 'automatortypes'] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];
/** What there is, as far as it is known. */
export type Names = Partial<Record<NamedKind, readonly string[]>>;

/** `*` stands for any key, `[]` for any place in a list. */
type Patterns = readonly (readonly [pattern: string, kind: NamedKind])[];

const PARTIAL: Patterns = [
  ['defaults.services.[]', 'services'],
  ['defaults.provider', 'providers'],
  ['defaults.hardwaretype', 'hardwaretypes'],
  ['defaults.imagetype', 'imagetypes'],
  ['compatibility.services.[]', 'services'],
  ['compatibility.hardwaretypes.[]', 'hardwaretypes'],
  ['compatibility.imagetypes.[]', 'imagetypes'],
  ['constraints.layout.mustcoexist.[].[]', 'services'],
  ['constraints.layout.cantcoexist.[].[]', 'services'],
  ['constraints.services.*.hardwaretypes.[]', 'hardwaretypes'],
  ['constraints.services.*.imagetypes.[]', 'imagetypes'],
];

const VALUES: Record<EntityKind, Patterns> = {
  partialtemplates: PARTIAL,
  clustertemplates: [...PARTIAL, ['extends.name', 'clustertemplates'], ['includes.[].name', 'partialtemplates']],
  services: [
    ['dependencies.conflicts.[]', 'services'],
    ['dependencies.install.requires.[]', 'services'],
    ['dependencies.install.requires.[].name', 'services'],
    ['dependencies.install.uses.[]', 'services'],
    ['dependencies.runtime.requires.[]', 'services'],
    ['dependencies.runtime.requires.[].name', 'services'],
    ['dependencies.runtime.uses.[]', 'services'],
    ['provisioner.actions.*.type', 'automatortypes'],
    ['errands.*.type', 'automatortypes'],
  ],
  providers: [['providertype', 'providertypes']],
  hardwaretypes: [],
  imagetypes: [],
};

const KEYS: Record<EntityKind, Patterns> = {
  partialtemplates: [['constraints.services.*', 'services']],
  clustertemplates: [['constraints.services.*', 'services']],
  services: [],
  providers: [],
  hardwaretypes: [['providermap.*', 'providers']],
  imagetypes: [['providermap.*', 'providers']],
};

function isAt(pattern: string, path: Path): boolean {
  const parts = pattern.split('.');
  return parts.length === path.length && parts.every((part, at) => (typeof path[at] === 'number' ? part === '[]' : part === '*' || part === path[at]));
}

const found = (patterns: Patterns, path: Path) => patterns.find(([pattern]) => isAt(pattern, path))?.[1];

/** What the value at a path is the name of. */
export const namedByValue = (of: EntityKind | undefined, path: Path): NamedKind | undefined => of && found(VALUES[of], path);
/** What the key at the end of a path is the name of. */
export const namedByKey = (of: EntityKind | undefined, path: Path): NamedKind | undefined => of && found(KEYS[of], path);

interface Providing {
  name: string;
  dependencies?: { provides?: string[] };
}

/** What services are called when they are needed: by their names, and by what they provide. */
export const answersTo = (services: readonly Providing[]): string[] => [...new Set(services.flatMap((one) => [one.name, ...(one.dependencies?.provides ?? [])]))];
