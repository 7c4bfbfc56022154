// Before anything is painted: the colours that were chosen, and the language.
try {
  const theme = localStorage.getItem('cooperage.theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
  const language = localStorage.getItem('cooperage.language') ?? navigator.language.slice(0, 2);
  if (language === 'de') document.documentElement.lang = 'de';
} catch {
  // A browser that keeps nothing shows what the system prefers.
}
