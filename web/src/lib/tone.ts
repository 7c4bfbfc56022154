/** The colour of a state. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'idle';

const TONES: Record<string, Tone> = {
  pending: 'busy', running: 'busy',
  active: 'good', done: 'good', complete: 'good', healthy: 'good', started: 'good',
  incomplete: 'bad', failed: 'bad', down: 'bad', lost: 'bad',
  inconsistent: 'wait', suspect: 'wait', paused: 'wait', maintenance: 'wait', refused: 'wait', draining: 'wait', staged: 'wait',
  stopping: 'wait', delayed: 'wait', unanswered: 'wait', abandoned: 'wait', broke: 'bad', crashed: 'bad', dropped: 'bad',
};

export const tone = (state: string): Tone => TONES[state] ?? 'idle';
