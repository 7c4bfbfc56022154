/** Which clusters are shown. */
import type { Shapes } from '../../lib/api/client.ts';

export type Summary = Shapes['ClusterSummary'] & { clusterTemplate?: { name?: string }; description?: string; provider?: { name?: string } };

export const GROUPS = ['living', 'atWork', 'broken', 'deleted'] as const;
export type Group = (typeof GROUPS)[number];

const STATES: Record<Group, (status: string) => boolean> = {
  living: (status) => status !== 'terminated',
  atWork: (status) => status === 'pending',
  broken: (status) => status === 'incomplete' || status === 'inconsistent',
  deleted: (status) => status === 'terminated',
};

export const inGroup = (clusters: Summary[], group: Group): Summary[] => clusters.filter((cluster) => STATES[group](cluster.status));

/** Those that have all words somewhere. */
export function matching(clusters: Summary[], text: string): Summary[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return clusters;
  return clusters.filter((cluster) => {
    const all = [cluster.name, cluster.id, cluster.ownerId, cluster.clusterTemplate?.name, cluster.status].join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
