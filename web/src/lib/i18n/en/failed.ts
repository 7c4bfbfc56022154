/** What helps when a task has failed, by the kind of failure, in English. */
export const failed = {
  title: 'It failed',
  advice: {
    transient: 'It may pass by itself: see that the machine, the network and the provider are well, then go on.',
    permanent: 'It was not tried again, because it would fail again: correct what it says (credentials, a quota, the request), then go on.',
    machine: 'Its machine is gone or does not come up: see the provider, then go on.',
    script: 'Its script failed: correct the script or its configuration, then go on.',
    unknown: 'See below what it printed, and go on when that is mended.',
  },
  exit: (code: number) => `It ended with ${code}.`,
};
