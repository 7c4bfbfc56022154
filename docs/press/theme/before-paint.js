// Before anything is painted: the colours that were chosen in the web interface.
try {
  const theme = localStorage.getItem('cooperage.theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing shows what the system prefers.
}
