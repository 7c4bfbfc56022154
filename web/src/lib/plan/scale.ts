/** From times to places on a line, and round marks on it. */
export interface Scale {
  at(ms: number): number;
  marks: { at: number; ms: number }[];
}

/** Distances of marks that people read well, in ms. */
const ROUND = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000];
/** Pixels between two marks at least. */
const APART = 76;

export function scale(from: number, to: number, width: number): Scale {
  const length = Math.max(1, to - from);
  const at = (ms: number) => ((ms - from) / length) * width;
  const most = Math.max(1, Math.floor(width / APART));
  const step = ROUND.find((step) => length / step <= most) ?? Math.ceil(length / most / 86_400_000) * 86_400_000;
  const marks = Array.from({ length: Math.floor(length / step) + 1 }, (_, n) => ({ at: at(from + n * step), ms: n * step }));
  return { at, marks };
}
