/** The one stream of events, and whether it flows: whoever shows something asks anew when something has happened to it. */
import { told, type Shapes } from '../api/client.ts';
import { EventReader } from './sse.ts';

export type Happening = Shapes['FollowedEvent'];
type Listener = (happening: Happening) => void;

/** Pauses between tries to come back, in ms. */
const PAUSES = [200, 500, 1000, 2000, 3000];
/** The server says at least this often that it is there, in ms; twice that without a word is too long. */
const SILENCE = 40_000;

class Stream {
  /** `live`: what is shown is what is. `lost`: nobody answers, and what is shown is old. */
  state = $state<'waiting' | 'live' | 'lost'>('waiting');
  /** When it was live last: ms since 1970. */
  lastLive = $state(0);
  /** How often it has come back: whoever shows something asks anew then. */
  returns = $state(0);
  /** Events taken so far, for who counts. */
  #listeners = new Set<Listener>();
  #after?: string;
  #stop?: AbortController;

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    if (this.#stop) return;
    this.#stop = new AbortController();
    void this.#follow(this.#stop.signal);
  }

  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#after = undefined;
    this.state = 'waiting';
  }

  async #follow(stopped: AbortSignal): Promise<void> {
    let tries = 0;
    while (!stopped.aborted) {
      try {
        await this.#once(stopped, () => (tries = 0));
      } catch {
        if (stopped.aborted) return;
        this.state = 'lost';
      }
      const pause = PAUSES[Math.min(tries++, PAUSES.length - 1)] ?? 1000;
      // A stream that ended by itself after a quarter of an hour is just taken up again.
      await new Promise((resolve) => setTimeout(resolve, this.state === 'live' ? 0 : pause));
    }
  }

  async #once(stopped: AbortSignal, begun: () => void): Promise<void> {
    const request = new Request(`${location.origin}/v2/events`, {
      headers: { Accept: 'text/event-stream', ...(this.#after ? { 'Last-Event-ID': this.#after } : {}) },
      signal: stopped,
      cache: 'no-store',
    });
    const response = await told(request);
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const events = new EventReader();
    this.#isLive();
    begun();
    for (;;) {
      const part = await within(SILENCE, reader.read());
      if (part.done) return;
      this.lastLive = Date.now();
      for (const event of events.read(part.value)) {
        this.#after = event.id ?? this.#after;
        const happening = JSON.parse(event.data) as Happening;
        for (const listener of this.#listeners) listener(happening);
      }
    }
  }

  #isLive(): void {
    if (this.state !== 'live') this.returns += 1;
    this.state = 'live';
    this.lastLive = Date.now();
  }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('silence')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

export const stream = new Stream();
