/** Who is signed in. */
import { api, data, send, speakAs, whenSignedOut, type Shapes } from './api/client.ts';
import { asProblem } from './api/problem.ts';

const SPOKEN = 'cooperage.spoken';
type Caller = Shapes['Caller'];

class Session {
  me = $state<Caller>();
  /** Whether it is known by now who is signed in. */
  isKnown = $state(false);
  /** Whether the server believes who callers say they are. */
  believes = $state(false);

  /** While the password changes, the old session has ended and the new one has not begun. */
  #isChanging = false;

  get isAdmin(): boolean {
    return this.me?.role === 'admin' || this.me?.role === 'superadmin';
  }

  get isSuperadmin(): boolean {
    return this.me?.role === 'superadmin';
  }

  get mayChange(): boolean {
    return this.me !== undefined && this.me.role !== 'reader';
  }

  async start(): Promise<void> {
    whenSignedOut(() => {
      if (!this.#isChanging) this.me = undefined;
    });
    const kept = sessionStorage.getItem(SPOKEN);
    if (kept) speakAs(JSON.parse(kept) as { user: string; tenant: string });
    const code = new URLSearchParams(location.hash.slice(1)).get('code');
    if (code) {
      // It is in the history of the browser no longer than this.
      history.replaceState(null, '', location.pathname + location.search);
      await send('POST', '/v2/login', { code }).catch(() => undefined);
    }
    await this.look();
  }

  /** Asks the server who we are. */
  async look(): Promise<void> {
    try {
      this.me = await data(api.GET('/v2/me'));
    } catch (fault) {
      const problem = asProblem(fault);
      this.me = undefined;
      this.believes = problem.status === 401 && problem.message.includes('Coopr-');
      if (problem.isAway) throw problem;
    } finally {
      this.isKnown = true;
    }
  }

  async signIn(tenant: string, user: string, password: string): Promise<void> {
    if (this.believes) {
      speakAs({ user, tenant });
      sessionStorage.setItem(SPOKEN, JSON.stringify({ user, tenant }));
    } else {
      await send('POST', '/v2/login', { tenant, user, password });
    }
    this.me = await data(api.GET('/v2/me'));
  }

  /** Another password, which ends every session; a new one begins at once. An admin's first password needs no old one. */
  async changePassword(old: string | undefined, fresh: string): Promise<void> {
    const me = this.me;
    if (!me) return;
    this.#isChanging = true;
    try {
      if (old === undefined) await send('PUT', `/v2/users/${encodeURIComponent(me.user)}`, { password: fresh });
      else await send('PUT', '/v2/me/password', { old, new: fresh });
      await this.signIn(me.tenant, me.user, fresh);
    } finally {
      this.#isChanging = false;
    }
  }

  async signOut(): Promise<void> {
    if (this.me?.credential === 'session') await send('POST', '/v2/logout');
    speakAs(undefined);
    sessionStorage.removeItem(SPOKEN);
    this.me = undefined;
  }
}

export const session = new Session();
