/** Dark, light, or as the system has it. */
export type Theme = 'system' | 'light' | 'dark';
const KEPT = 'cooperage.theme';

class Themes {
  chosen = $state<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? 'system');

  choose(theme: Theme): void {
    this.chosen = theme;
    if (theme === 'system') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(KEPT);
    } else {
      document.documentElement.dataset.theme = theme;
      localStorage.setItem(KEPT, theme);
    }
  }
}

export const themes = new Themes();
