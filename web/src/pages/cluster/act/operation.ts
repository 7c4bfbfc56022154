/** Operations on clusters, and which of them there are for a cluster as it is. */
import type { Shapes } from '../../../lib/api/client.ts';

export type OperationName =
  | 'grow' | 'configure' | 'services' | 'upgrade' | 'converge' | 'rollback' | 'maintenance' | 'endMaintenance' | 'lease' | 'export'
  | 'pause' | 'resume' | 'abort' | 'cancel' | 'retry' | 'delete';

type Cluster = Pick<Shapes['Cluster'], 'status'> & { maintenance?: Shapes['Cluster']['maintenance'] };
type Plan = Pick<Shapes['Plan'], 'action' | 'status' | 'endTime'>;

export function possible(cluster: Cluster, plan: Plan | undefined): OperationName[] {
  if (cluster.status === 'terminated') return [];
  const care: OperationName = cluster.maintenance ? 'endMaintenance' : 'maintenance';
  if (cluster.status === 'pending') {
    const isPaused = plan?.status === 'paused';
    const isCreate = plan?.action.toLowerCase() === 'cluster_create';
    return [isPaused ? 'resume' : 'pause', isCreate ? 'abort' : 'cancel', care, 'lease', 'export', 'delete'];
  }
  if (cluster.status === 'incomplete') return ['retry', care, 'lease', 'export', 'delete'];
  return ['grow', 'configure', 'services', 'upgrade', 'converge', 'rollback', care, 'lease', 'export', 'delete'];
}

/** Those that change nothing: they are for readers, too. */
export const READING: readonly OperationName[] = ['export'];

/** What is sent for those that need nothing said. */
export const PLAIN: Partial<Record<OperationName, { path: string; body: unknown }>> = {
  upgrade: { path: 'upgrade', body: {} },
  converge: { path: 'converge', body: {} },
  rollback: { path: 'rollback', body: {} },
  pause: { path: 'pause', body: {} },
  resume: { path: 'resume', body: {} },
  abort: { path: 'abort', body: {} },
  cancel: { path: 'cancel', body: {} },
  retry: { path: 'retry', body: {} },
};

/** They change what is under way, which moves on while somebody reads. */
export const URGENT: readonly OperationName[] = ['pause', 'resume', 'abort', 'cancel'];

/** What is done to services. An errand is named behind the colon: `backup` of `postgres` is `postgres:backup`. */
export const SERVICE_WORK = ['restart', 'stop', 'start', 'add', 'remove', 'errand'] as const;
export type ServiceWork = (typeof SERVICE_WORK)[number];

/** Where that is sent, and what; nothing while it is not said which service. */
export function serviceOrder(work: ServiceWork, service: string): { path: string; body?: unknown } {
  const [name = '', errand = ''] = service.split(':').map(encodeURIComponent);
  switch (work) {
    case 'add':
    case 'remove':
      return { path: work === 'add' ? 'services' : 'services/remove', body: service ? { services: [service] } : undefined };
    case 'errand':
      return { path: `services/${name}/errands/${errand}`, body: errand ? {} : undefined };
    default:
      return { path: ['services', ...(service ? [name] : []), work].join('/'), body: {} };
  }
}

/** Another size, as somebody says it: so many in all, or so many more that carry a service (fewer: below zero). */
export interface Size {
  machines: number;
  service: string;
  more: number;
  hardwaretype: string;
}

/** What is sent for it; nothing where nothing would be another. */
export function sizeChange(size: Size, now: number): Record<string, unknown> | undefined {
  const isMore = size.service ? size.more > 0 : size.machines > now;
  if (size.service ? size.more === 0 : size.machines === now) return undefined;
  const by = size.service ? { services: { [size.service]: size.more } } : { machines: size.machines };
  return isMore && size.hardwaretype ? { ...by, hardwaretype: size.hardwaretype } : by;
}

/** For which other programs nodes are written down, and what such a file is called. */
export const EXPORTS = { ansible: 'inventory.yaml', 'ssh-config': 'ssh_config', hosts: 'hosts', prometheus: 'targets.json' } as const;
export type ExportFormat = keyof typeof EXPORTS;
export const FORMATS = Object.keys(EXPORTS) as ExportFormat[];
