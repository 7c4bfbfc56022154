/** From values to lines in a chart, and marks that people read well beside them. */

/** Marks from zero to a round number at or above the highest value; there are at most `most` steps between them. */
export function marks(top: number, unit: string, most = 3): number[] {
  const whole = unit !== 'ms' && unit !== '%' && !unit.includes('/');
  const base = unit === 'bytes' ? 1024 ** Math.floor(Math.log(Math.max(1, top)) / Math.log(1024)) : 1;
  const high = Math.max(top, Number.MIN_VALUE) / base;
  const rough = high / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = ([1, 2, 2.5, 5, 10].find((round) => round * power >= rough * 0.999_999) ?? 10) * power;
  if (whole && unit !== 'bytes') step = Math.max(1, Math.ceil(step));
  if (top <= 0) step = 1 / base;
  const count = Math.max(1, Math.ceil(high / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, at) => at * step * base);
}

/** A line through what was measured, which stops where nothing was; what stands alone is a point. */
export function path(values: (number | null)[], x: (at: number) => number, y: (value: number) => number): string {
  let drawn = '';
  values.forEach((value, at) => {
    if (value === null) return;
    const isOn = at > 0 && values[at - 1] !== null && values[at - 1] !== undefined;
    const isAlone = !isOn && (values[at + 1] === null || values[at + 1] === undefined);
    drawn += `${isOn ? 'L' : 'M'}${x(at).toFixed(1)},${y(value).toFixed(1)}${isAlone ? 'h0' : ''}`;
  });
  return drawn;
}

/** What lies below that line, down to `ground`. */
export function area(values: (number | null)[], x: (at: number) => number, y: (value: number) => number, ground: number): string {
  let drawn = '';
  values.forEach((value, at) => {
    if (value === null) return;
    const isOn = at > 0 && values[at - 1] !== null && values[at - 1] !== undefined;
    const isLast = values[at + 1] === null || values[at + 1] === undefined;
    drawn += `${isOn ? '' : `M${x(at).toFixed(1)},${ground}`}L${x(at).toFixed(1)},${y(value).toFixed(1)}${isLast ? `L${x(at).toFixed(1)},${ground}Z` : ''}`;
  });
  return drawn;
}

/** Distances of marks of time, in ms. */
const ROUND = [60_000, 120_000, 300_000, 600_000, 900_000, 1_200_000, 1_800_000];

/** Full minutes within a time, at most `most` of them. */
export function clockMarks(from: number, to: number, most: number): number[] {
  const step = ROUND.find((round) => (to - from) / round <= most) ?? 3_600_000;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, at) => first + at * step);
}
