/** Which clusters are shown. */
import type { Shapes } from '../../lib/api/client.ts';
import { matchingText } from '../../lib/words.ts';

export type Summary = Shapes['ClusterSummary'] & { clusterTemplate?: { name?: string }; description?: string; provider?: { name?: string } };

export const GROUPS = ['living', 'atWork', 'broken', 'ending', 'deleted'] as const;
export type Group = (typeof GROUPS)[number];

const MEMBERS: Record<Group, (cluster: Summary) => boolean> = {
  living: ({ status }) => status !== 'terminated',
  atWork: ({ status }) => status === 'pending',
  broken: ({ status }) => status === 'incomplete' || status === 'inconsistent',
  ending: ({ status, expiring }) => status !== 'terminated' && expiring === true,
  deleted: ({ status }) => status === 'terminated',
};

export const inGroup = (clusters: Summary[], group: Group): Summary[] => clusters.filter(MEMBERS[group]);

/** What clusters are put in order by; without any the newest comes first, as the server has them. */
export const COLUMNS = ['name', 'state', 'template', 'nodes', 'cost', 'owner', 'lease'] as const;
export type Column = (typeof COLUMNS)[number];
export interface Order {
  by: Column;
  isDown: boolean;
}

/** What needs care first. */
const URGENCY = ['inconsistent', 'incomplete', 'pending', 'active', 'terminated'];
const VALUES: Record<Column, (cluster: Summary) => string | number> = {
  name: (cluster) => cluster.name,
  state: (cluster) => URGENCY.indexOf(cluster.status),
  template: (cluster) => cluster.clusterTemplate?.name ?? '',
  nodes: (cluster) => cluster.numNodes,
  cost: (cluster) => cluster.pricePerHour ?? 0,
  owner: (cluster) => cluster.ownerId,
  lease: (cluster) => cluster.expireTime || Number.MAX_SAFE_INTEGER,
};
/** `db-9` comes before `db-10`. */
const words = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** As it stands in an address: `name`, or `-name` from the last to the first. */
export function orderOf(text: string | null): Order | undefined {
  const by = COLUMNS.find((one) => one === text?.replace(/^-/, ''));
  return by && { by, isDown: text?.startsWith('-') === true };
}

/** What stands in the address once somebody asked for this column: up, then down, then the newest first again. */
export function nextOrder(order: Order | undefined, by: Column): string | undefined {
  if (order?.by !== by) return by;
  return order.isDown ? undefined : `-${by}`;
}

export function ordered(clusters: Summary[], order: Order | undefined): Summary[] {
  if (!order) return clusters;
  const value = VALUES[order.by];
  const sign = order.isDown ? -1 : 1;
  return clusters.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    return sign * (typeof a === 'string' ? words.compare(a, String(b)) : a - Number(b));
  });
}

/** Those that have all words somewhere. */
export const matching = (clusters: Summary[], text: string): Summary[] =>
  matchingText(clusters, text, (cluster) => [cluster.name, cluster.id, cluster.ownerId, cluster.clusterTemplate?.name, cluster.status].join(' '));
