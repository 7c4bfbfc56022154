/** The time, for what counts up or down: moves once a second while somebody looks. */
class Now {
  ms = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (document.visibilityState === 'visible') this.ms = Date.now();
    }, 1000);
  }
}

export const now = new Now();
