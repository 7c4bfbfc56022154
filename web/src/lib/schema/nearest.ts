/** The name that was meant. */

/** How many letters have to be added, taken away, changed or swapped with the next. */
export function distance(a: string, b: string): number {
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, changed, swapped));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

/** The nearest of some names, where one is near enough to be meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const letters = (text: string) => text.toLowerCase().replaceAll(/[-_ ]/g, '');
  const most = Math.max(1, Math.floor(name.length / 3));
  const found = known.map((one) => ({ one, far: distance(letters(name), letters(one)) })).filter(({ far }) => far <= most);
  return found.sort((a, b) => a.far - b.far)[0]?.one;
}
