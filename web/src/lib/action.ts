/** What a job does, in words: `CLUSTER_CREATE` is `create`. */
export const actionName = (action: string): string => action.replace(/^CLUSTER_/i, '').replaceAll('_', ' ').toLowerCase();
