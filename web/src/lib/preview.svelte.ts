/** What a change would do, asked for whenever what is asked changes. */
import { send, type Shapes } from './api/client.ts';
import { asProblem, type Problem } from './api/problem.ts';
import { stream } from './live/stream.svelte.ts';

export type Preview = Shapes['PlanPreview'];
/** How long somebody is let type before it is asked for, in ms. */
const PAUSE = 300;

export class Previewer {
  shown = $state.raw<Preview>();
  problem = $state.raw<Problem>();
  isAsking = $state(false);

  /** Asks after a pause. To be called in an effect; gives what calls it off. */
  ask(method: string, path: string, body: unknown): () => void {
    // What nobody answered is asked again when the server is back.
    void stream.returns;
    let isOff = false;
    this.isAsking = true;
    const timer = setTimeout(async () => {
      try {
        const found = await send<Preview>(method, `${path}?dryRun=true`, body);
        if (isOff) return;
        [this.shown, this.problem] = [found, undefined];
      } catch (fault) {
        if (isOff) return;
        [this.shown, this.problem] = [undefined, asProblem(fault)];
      }
      this.isAsking = false;
    }, PAUSE);
    return () => {
      isOff = true;
      clearTimeout(timer);
    };
  }
}
