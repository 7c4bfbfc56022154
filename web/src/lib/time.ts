/** Times in words, short. */

/** `1.3 s`, `2 min 5 s`, `3 h 20 min`, `4 d 2 h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (big: number, bigName: string, small: number, smallName: string) => (small ? `${big} ${bigName} ${small} ${smallName}` : `${big} ${bigName}`);
  if (whole < 3600) return two(Math.floor(whole / 60), 'min', whole % 60, 's');
  if (whole < 86_400) return two(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'min');
  return two(Math.floor(whole / 86_400), 'd', Math.floor((whole % 86_400) / 3600), 'h');
}

/** A time of the day, with the date when it is not today's. */
export function moment(ms: number, language: string, today: number): string {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date(today).toDateString();
  const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' };
  return isToday
    ? date.toLocaleTimeString(language, clock)
    : date.toLocaleString(language, { day: '2-digit', month: 'short', year: date.getFullYear() === new Date(today).getFullYear() ? undefined : 'numeric', hour: '2-digit', minute: '2-digit' });
}

/** `12:03:04.567`: for lines of logs. */
export function clock(ms: number): string {
  const date = new Date(ms);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** A number of bytes, as people read it. */
export function bytes(count: number, locale: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
  return (count / 1000 ** at).toLocaleString(locale, { style: 'unit', unit: units[at], maximumFractionDigits: at === 0 ? 0 : 1 });
}
