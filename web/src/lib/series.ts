/** A line through what was measured lately. */
export function line(values: number[], width: number, height: number, most: number): string {
  if (values.length === 0) return '';
  const step = most > 1 ? width / (most - 1) : width;
  const top = Math.max(1, ...values);
  const begin = width - (values.length - 1) * step;
  return values.map((value, at) => `${at === 0 ? 'M' : 'L'}${(begin + at * step).toFixed(1)},${(height - (value / top) * height).toFixed(1)}`).join('');
}
