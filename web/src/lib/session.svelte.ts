/** Who is signed in. */
import { api, data, send, speakAs, whenSignedOut, type Shapes, type Spoken } from './api/client.ts';
import { asProblem } from './api/problem.ts';

const SPOKEN = 'cooperage.spoken';
/** Where superadmins have their accounts. */
export const OWN_TENANT = 'superadmin';
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

  /** Whether other tenants may be looked after. Where callers are believed, they sign in there. */
  get mayVisit(): boolean {
    return this.isSuperadmin && this.me?.credential !== 'headers';
  }

  /** An address for what the browser asks for by itself, without headers of ours: the tenant that is looked after stands in it. */
  addressed(path: string): string {
    if (!this.me?.visiting) return path;
    return `${path}${path.includes('?') ? '&' : '?'}tenant=${encodeURIComponent(this.me.tenant)}`;
  }

  get mayChange(): boolean {
    return this.me !== undefined && this.me.role !== 'reader';
  }

  async start(): Promise<void> {
    whenSignedOut(() => {
      if (!this.#isChanging) this.me = undefined;
    });
    const kept = sessionStorage.getItem(SPOKEN);
    if (kept) speakAs(JSON.parse(kept) as Spoken);
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
      // The tenant that was looked after may be gone.
      if (problem.status === 404) this.#say(undefined);
      if (problem.isAway) throw problem;
    } finally {
      this.isKnown = true;
    }
  }

  /** Looks after another tenant, or after the own one again; in this tab, from its first page on. */
  visit(tenant: string): void {
    this.#say(tenant === OWN_TENANT ? undefined : { tenant });
    location.assign('/clusters');
  }

  async signIn(tenant: string, user: string, password: string): Promise<void> {
    this.#say(undefined);
    if (this.believes) {
      this.#say({ user, tenant });
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
    this.#say(undefined);
    this.me = undefined;
  }

  #say(who: Spoken | undefined): void {
    speakAs(who);
    if (who) sessionStorage.setItem(SPOKEN, JSON.stringify(who));
    else sessionStorage.removeItem(SPOKEN);
  }
}

export const session = new Session();
