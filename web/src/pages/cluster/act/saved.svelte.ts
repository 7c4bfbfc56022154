/** Counts plans that were saved on this page: saving one is no event of the cluster. */
export const saved = $state({ count: 0 });
