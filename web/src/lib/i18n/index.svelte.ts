/** The language that is read. */
import { de } from './de.ts';
import { en, type Words } from './en.ts';

export const LANGUAGES = { en, de } satisfies Record<string, Words>;
export type Language = keyof typeof LANGUAGES;
const KEPT = 'cooperage.language';

class Speech {
  language = $state<Language>(document.documentElement.lang === 'de' ? 'de' : 'en');
  readonly t: Words = $derived(LANGUAGES[this.language]);

  /** Where it is read: how times and numbers are written. */
  readonly locale: string = $derived(navigator.languages.find((one) => one.startsWith(this.language)) ?? this.language);

  choose(language: Language): void {
    this.language = language;
    document.documentElement.lang = language;
    localStorage.setItem(KEPT, language);
  }

  /** A state in words; one that is not known stays as it is. */
  status(state: string): string {
    return (this.t.status as Record<string, string>)[state] ?? state;
  }
}

export const speech = new Speech();
