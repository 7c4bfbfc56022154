/** Addresses of pages, read and written. `src/web.rs` has the same first parts. */

export const PAGES = ['clusters', 'new', 'catalog', 'operations', 'profile', 'sign-in'] as const;
export type PageName = (typeof PAGES)[number];

/** Parts of a cluster's page. */
export const CLUSTER_TABS = ['overview', 'plan', 'logs', 'config', 'history', 'placement', 'node', 'terminal'] as const;
export type ClusterTab = (typeof CLUSTER_TABS)[number];

/** Parts of the operations room. */
export const OPERATION_TABS = ['queues', 'metrics', 'tenants', 'provisioners', 'users', 'audit', 'actors'] as const;
export type OperationTab = (typeof OPERATION_TABS)[number];

/** Those that are named: what the server itself does, to a superadmin only. */
export const shownTabs = (isSuperadmin: boolean): readonly OperationTab[] => OPERATION_TABS.filter((tab) => isSuperadmin || (tab !== 'actors' && tab !== 'metrics'));

/** What an address shows. */
export type Route =
  | { page: 'clusters' }
  | { page: 'new'; template?: string }
  | { page: 'cluster'; id: string; tab: ClusterTab; job?: string }
  | { page: 'catalog'; kind: string; name?: string; version?: number }
  | { page: 'operations'; tab: OperationTab }
  | { page: 'profile' }
  | { page: 'sign-in' }
  | { page: 'missing'; path: string };

/** Kinds of what is on offer, as in the interface for programs, and plugins. */
export const ENTITY_KINDS = ['clustertemplates', 'partialtemplates', 'services', 'providers', 'hardwaretypes', 'imagetypes'] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];
export const KINDS = [...ENTITY_KINDS, 'plugins'] as const;
export type Kind = (typeof KINDS)[number];

const isOneOf = <T extends string>(all: readonly T[], one: string | undefined): one is T => all.includes(one as T);

export function parse(path: string): Route {
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  const [first, second, third, fourth] = parts;
  const missing: Route = { page: 'missing', path };
  switch (first) {
    case undefined:
      return { page: 'clusters' };
    case 'clusters': {
      if (second === undefined) return { page: 'clusters' };
      const tab = third ?? 'overview';
      return isOneOf(CLUSTER_TABS, tab) ? { page: 'cluster', id: second, tab, job: fourth } : missing;
    }
    case 'new':
      return { page: 'new', template: second };
    case 'catalog': {
      const kind = second ?? KINDS[0];
      if (!isOneOf(KINDS, kind)) return missing;
      const version = fourth === undefined ? undefined : Number(fourth);
      return Number.isNaN(version) ? missing : { page: 'catalog', kind, name: third, version };
    }
    case 'operations': {
      const tab = second ?? OPERATION_TABS[0];
      return isOneOf(OPERATION_TABS, tab) ? { page: 'operations', tab } : missing;
    }
    case 'profile':
      return { page: 'profile' };
    case 'sign-in':
      return { page: 'sign-in' };
    default:
      return missing;
  }
}

/** Of what a page is: its parts, and what is asked for behind the `?`, are of the same. */
export function subject(route: Route): string {
  switch (route.page) {
    case 'cluster':
      return `cluster ${route.id}`;
    case 'catalog':
      return `catalog ${route.kind}`;
    case 'new':
      return `new ${route.template ?? ''}`;
    case 'missing':
      return `missing ${route.path}`;
    default:
      return route.page;
  }
}

const joined = (...parts: (string | number | undefined)[]): string =>
  '/' + parts.filter((part) => part !== undefined).map((part) => encodeURIComponent(part)).join('/');

export function format(route: Route): string {
  switch (route.page) {
    case 'clusters':
      return '/clusters';
    case 'new':
      return joined('new', route.template);
    case 'cluster':
      return joined('clusters', route.id, route.tab === 'overview' && !route.job ? undefined : route.tab, route.job);
    case 'catalog':
      return joined('catalog', route.kind, route.name, route.version);
    case 'operations':
      return joined('operations', route.tab);
    case 'missing':
      return route.path;
    default:
      return joined(route.page);
  }
}
