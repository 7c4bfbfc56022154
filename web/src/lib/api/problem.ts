/** What went wrong, as the server says it (RFC 9457), or as nobody answers. */
import type { components } from './schema.gen.ts';

export type ProblemBody = components['schemas']['Problem'];

export class Problem extends Error {
  readonly status: number;
  readonly field?: string;
  readonly value?: string;
  readonly remedy?: string;
  readonly reasons: unknown[];
  readonly missingFields: unknown[];
  /** Changes of what was asked for that would help. */
  readonly remedySteps: components['schemas']['RemedyStep'][];

  constructor(body: Partial<ProblemBody> & { missingFields?: unknown[] }, status: number) {
    super(body.detail ?? body.title ?? `HTTP ${status}`);
    this.status = status;
    this.field = body.field ?? undefined;
    this.value = body.value ?? undefined;
    this.remedy = body.remedy ?? undefined;
    this.reasons = body.reasons ?? [];
    this.missingFields = body.missingFields ?? [];
    this.remedySteps = body.remedySteps ?? [];
  }

  /** Whether nobody answered at all. */
  get isAway(): boolean {
    return this.status === 0;
  }
}

/** What a proxy in front answers when it does not reach the server. */
const UNREACHED = [502, 503, 504];

/** A refusal read from an answer's body, whatever that is. */
export function problemOf(body: unknown, status: number): Problem {
  if (typeof body === 'object' && body !== null) return new Problem(body, status);
  // The server says what is wrong as an object.
  if (UNREACHED.includes(status)) return new Problem({}, 0);
  return new Problem({ detail: typeof body === 'string' && body ? body.slice(0, 300) : undefined }, status);
}

export const asProblem = (fault: unknown): Problem =>
  fault instanceof Problem ? fault : new Problem({ detail: fault instanceof Error ? fault.message : String(fault) }, 0);
