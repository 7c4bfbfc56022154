/** Colours of figures that share a chart, so that those of the same sort look the same everywhere. */
export const TONES: Record<string, 'busy' | 'wait' | 'bad' | 'good' | 'limit'> = {
  'tasks-waiting': 'wait',
  'tasks-running': 'busy',
  workers: 'limit',
  'failed-attempts': 'bad',
  'failed-jobs': 'bad',
  'failed-requests': 'bad',
  commits: 'good',
};
