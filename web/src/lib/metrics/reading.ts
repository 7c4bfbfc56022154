/** Values as people read them. */

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const DASH = '–';

const rounded = (value: number, locale: string): string =>
  value.toLocaleString(locale, { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2 });

function binary(value: number, locale: string): string {
  const at = Math.min(BINARY.length - 1, Math.max(0, Math.floor(Math.log(Math.max(1, Math.abs(value))) / Math.log(1024))));
  return `${rounded(value / 1024 ** at, locale)} ${BINARY[at]}`;
}

/** `3.2 /min`, `38 %`, `201 MiB`, `1.2 s`, `12`. */
export function reading(value: number | null | undefined, unit: string, locale: string): string {
  if (value === null || value === undefined) return DASH;
  if (unit === 'bytes') return binary(value, locale);
  if (unit === '%') return `${rounded(value, locale)} %`;
  if (unit === 'ms') return value >= 1000 ? `${rounded(value / 1000, locale)} s` : `${rounded(value, locale)} ms`;
  if (unit.startsWith('1/')) return `${rounded(value, locale)} /${unit.slice(2)}`;
  return rounded(value, locale);
}

/** A value beside a chart, where there is little room: how often is said below it. */
export const marked = (value: number, unit: string, locale: string): string =>
  unit.startsWith('1/') ? value.toLocaleString(locale, { notation: 'compact', maximumFractionDigits: 2 }) : reading(value, unit, locale);

/** Lowest and highest of what was measured. */
export function range(values: (number | null)[]): { low: number; high: number } | undefined {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? { low: Math.min(...known), high: Math.max(...known) } : undefined;
}
