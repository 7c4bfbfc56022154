/** Entities of the catalog, as far as all kinds have the same. */
export interface Entity {
  name: string;
  version?: number;
  label?: string | null;
  description?: string | null;
  providertype?: string;
  dependencies?: Partial<Record<'install' | 'runtime', { requires?: (string | { name: string })[]; uses?: string[] }>> & { provides?: string[]; conflicts?: string[] };
}

/** Names of the services that a service needs, and how. */
export function needs(entity: Entity): { name: string; how: string }[] {
  const nameOf = (one: string | { name: string }) => (typeof one === 'string' ? one : one.name);
  return (['install', 'runtime'] as const).flatMap((phase) => {
    const of = entity.dependencies?.[phase];
    return [
      ...(of?.requires ?? []).map((one) => ({ name: nameOf(one), how: `${phase}.requires` })),
      ...(of?.uses ?? []).map((one) => ({ name: one, how: `${phase}.uses` })),
    ];
  });
}
