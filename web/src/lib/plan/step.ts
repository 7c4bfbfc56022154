/** Tasks of a plan, whether they are carried out or only foreseen, as the pictures need them. */
import type { Shapes } from '../api/client.ts';

export type StepState = 'waiting' | 'running' | 'done' | 'failed';

export interface Attempt {
  from: number;
  /** Unknown while it is under way. */
  to?: number;
}

export interface Step {
  id: string;
  /** What is done: `INSTALL`. */
  name: string;
  /** To which service; empty: to the machine. */
  service: string;
  node: string;
  after: string[];
  estimate: number;
  state: StepState;
  begun?: number;
  ended?: number;
  /** When each attempt was under way; between them its node did something else, or rested. */
  attempts: Attempt[];
  isCritical: boolean;
  straggles: boolean;
  waits: Shapes['WaitReason'][];
}

type Plan = Shapes['Plan'];
type Preview = Shapes['PlanPreview'];
type NodeProperties = Shapes['NodeProperties'];

export function stepsOfPlan(plan: Plan): Step[] {
  const critical = new Set(plan.criticalPath);
  return plan.tasks.map((task) => {
    const last = task.attempts.at(-1);
    return {
      id: task.id,
      name: task.taskName,
      service: task.service,
      node: task.nodeId,
      after: task.after,
      estimate: task.estimateMs,
      state: task.status as StepState,
      begun: task.attempts[0]?.startTime,
      ended: task.status === 'waiting' || task.status === 'running' ? undefined : (last?.endTime ?? undefined),
      attempts: task.attempts.map((attempt) => ({ from: attempt.startTime, to: attempt.endTime ?? undefined })),
      isCritical: critical.has(task.id),
      straggles: task.straggling === true,
      waits: task.waiting ?? [],
    };
  });
}

/** Steps of what is only foreseen; the critical path names them in words there. */
export function stepsOfPreview(preview: Preview): Step[] {
  const hosts = new Map(preview.changes.nodes?.map((node) => [node.id, node.host]));
  const critical = new Set(preview.criticalPath);
  return preview.planned.map((task, at) => ({
    id: String(at),
    name: task.taskName,
    service: task.service,
    node: task.nodeId,
    after: task.after.map(String),
    estimate: task.estimateMs,
    state: 'waiting',
    attempts: [],
    isCritical: critical.has(`${[task.taskName, task.service].filter(Boolean).join(' ')} on ${hosts.get(task.nodeId)}`),
    straggles: false,
    waits: [],
  }));
}

/** `INSTALL nginx`. */
export const title = (step: Pick<Step, 'name' | 'service'>): string => [step.name, step.service].filter(Boolean).join(' ');

/** Nodes that carry the same services on the same sort of machine. */
export interface NodeGroup<T> {
  key: string;
  services: string[];
  hardware: string;
  nodes: T[];
}

/** Nodes by what they carry, the largest groups last, in a steady order. */
export function groupNodes<T>(nodes: T[], properties: (node: T) => NodeProperties | null | undefined): NodeGroup<T>[] {
  const groups = new Map<string, NodeGroup<T>>();
  for (const node of nodes) {
    const of = properties(node);
    const services = [...(of?.services ?? [])].sort();
    const key = [services.join(' '), of?.hardwaretype, of?.imagetype].join('|');
    const group = groups.get(key) ?? { key, services, hardware: of?.hardwaretype ?? '', nodes: [] };
    group.nodes.push(node);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => a.nodes.length - b.nodes.length || a.key.localeCompare(b.key));
}
