/** Asking the server, by the types of its own description. */
import createClient from 'openapi-fetch';
import { Problem, problemOf } from './problem.ts';
import type { components, paths } from './schema.gen.ts';

export type Shapes = components['schemas'];

/** Where the server believes callers, they say with each request who they are; others name a tenant that they look after. */
export interface Spoken {
  user?: string;
  tenant: string;
}
let spoken: Spoken | undefined;
let onSignedOut: () => void = () => {};

export function speakAs(who: Spoken | undefined): void {
  spoken = who;
}

/** Tells what to do when a session has ended. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

/** What is said of who we are, with what is not sent by `fetch`. */
export const spokenHeaders = (): [string, string][] =>
  spoken ? [...(spoken.user ? [['Coopr-UserID', spoken.user] as [string, string]] : []), ['Coopr-TenantID', spoken.tenant]] : [];

/** `fetch` with who we are. */
export async function told(request: Request): Promise<Response> {
  for (const [name, value] of spokenHeaders()) request.headers.set(name, value);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (fault) {
    throw new Problem({ detail: fault instanceof Error ? fault.message : undefined }, 0);
  }
  if (response.status === 401 && !request.url.endsWith('/v2/login') && !request.url.endsWith('/v2/me')) onSignedOut();
  return response;
}

const headers = { Accept: 'application/json' };
export const api = createClient<paths>({ baseUrl: location.origin, fetch: told, headers });

/** The data of an answer. Throws a `Problem` for a refusal. */
export async function data<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw problemOf(error, response.status);
  return data as T;
}

/** Sent again because its answer was lost, a change is made once. A look changes nothing. */
function key(method: string, path: string): HeadersInit {
  if (method !== 'POST' || path.includes('dryRun=')) return {};
  return { 'Idempotency-Key': crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` };
}

/** Sends a body to a path that was put together. Throws a `Problem` for a refusal. */
export async function send<T = unknown>(method: string, path: string, body?: unknown, extra: HeadersInit = {}): Promise<T> {
  const request = new Request(new URL(path, location.origin), {
    method,
    headers: { ...headers, ...key(method, path), ...extra },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const response = await told(request);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json');
  const read: unknown = isJson && text ? JSON.parse(text) : text;
  if (!response.ok) throw problemOf(read, response.status);
  return read as T;
}
