/** Where we are: the address of the page, and how to go elsewhere without loading everything anew. */
import { format, parse, type Route } from './route.ts';

class Router {
  #path = $state(location.pathname);
  #search = $state(location.search);
  #hash = $state(location.hash);
  readonly route: Route = $derived(parse(this.#path));
  readonly query: URLSearchParams = $derived(new URLSearchParams(this.#search));

  get path(): string {
    return this.#path;
  }

  get hash(): string {
    return this.#hash;
  }

  /** The address as it is after the host. */
  get here(): string {
    return this.#path + this.#search + this.#hash;
  }

  start(): void {
    addEventListener('popstate', () => this.#read());
    document.addEventListener('click', (event) => this.#follow(event));
  }

  go(to: Route | string): void {
    const address = typeof to === 'string' ? to : format(to);
    history.pushState(null, '', address);
    this.#read();
    scrollTo(0, 0);
  }

  /** Puts another address in place of this one. */
  replace(to: Route | string): void {
    history.replaceState(null, '', typeof to === 'string' ? to : format(to));
    this.#read();
  }

  /** Puts values behind the `?`; none of those that are empty. */
  ask(values: Record<string, string | undefined>): void {
    const query = new URLSearchParams(this.#search);
    for (const [name, value] of Object.entries(values)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    this.replace(this.#path + (text ? `?${text}` : ''));
  }

  #read(): void {
    this.#path = location.pathname;
    this.#search = location.search;
    this.#hash = location.hash;
  }

  #follow(event: MouseEvent): void {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain || event.defaultPrevented) return;
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link?.href || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    // The interface for programs, and the book.
    if (/^\/(v2|docs)(\/|$)/.test(link.pathname)) return;
    event.preventDefault();
    this.go(link.pathname + link.search + link.hash);
  }
}

export const router = new Router();
export const href = format;
