/** Operations on clusters, and which of them there are for a cluster as it is. */
import type { Shapes } from '../../../lib/api/client.ts';

export type OperationName =
  | 'grow' | 'configure' | 'services' | 'upgrade' | 'converge' | 'maintenance' | 'endMaintenance' | 'lease'
  | 'pause' | 'resume' | 'abort' | 'cancel' | 'retry' | 'delete';

type Cluster = Pick<Shapes['Cluster'], 'status'> & { maintenance?: Shapes['Cluster']['maintenance'] };
type Plan = Pick<Shapes['Plan'], 'action' | 'status' | 'endTime'>;

export function possible(cluster: Cluster, plan: Plan | undefined): OperationName[] {
  if (cluster.status === 'terminated') return [];
  const care: OperationName = cluster.maintenance ? 'endMaintenance' : 'maintenance';
  if (cluster.status === 'pending') {
    const isPaused = plan?.status === 'paused';
    const isCreate = plan?.action.toLowerCase() === 'cluster_create';
    return [isPaused ? 'resume' : 'pause', isCreate ? 'abort' : 'cancel', care, 'lease', 'delete'];
  }
  if (cluster.status === 'incomplete') return ['retry', care, 'lease', 'delete'];
  return ['grow', 'configure', 'services', 'upgrade', 'converge', care, 'lease', 'delete'];
}

/** What is sent for those that need nothing said. */
export const PLAIN: Partial<Record<OperationName, { path: string; body: unknown }>> = {
  upgrade: { path: 'upgrade', body: {} },
  converge: { path: 'converge', body: {} },
  pause: { path: 'pause', body: {} },
  resume: { path: 'resume', body: {} },
  abort: { path: 'abort', body: {} },
  cancel: { path: 'cancel', body: {} },
  retry: { path: 'retry', body: {} },
};

/** They change what is under way, which moves on while somebody reads. */
export const URGENT: readonly OperationName[] = ['pause', 'resume', 'abort', 'cancel'];
