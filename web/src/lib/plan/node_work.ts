/** What a job has to do on each node, and how far that is. */
import type { Shapes } from '../api/client.ts';

type Task = Shapes['GraphTask'];

export interface NodeWork {
  done: number;
  all: number;
  /** What runs there now; one task at a time. */
  running?: Task;
}

/** By id of the node; nodes for which there is nothing to do are not in it. */
export function workOfNodes(tasks: Task[]): Map<string, NodeWork> {
  const nodes = new Map<string, NodeWork>();
  for (const task of tasks) {
    const work = nodes.get(task.nodeId) ?? { done: 0, all: 0 };
    work.all += 1;
    if (task.status === 'done') work.done += 1;
    if (task.status === 'running') work.running = task;
    nodes.set(task.nodeId, work);
  }
  return nodes;
}
