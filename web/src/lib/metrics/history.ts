/** What was measured lately, as `GET /v2/metrics/history` tells it. */

import type { Shapes } from '../api/client.ts';

/** A figure over time, oldest value first; `null` where nothing was measured. */
export type Figure = Shapes['FigureHistory'];

/** The last value of each figure is of `until`; the others are `everyMs` apart. */
export type MetricsHistory = Shapes['MetricHistory'];

/** How far back charts go, in minutes. */
export const SPANS = ['10', '30', '60'] as const;
export type Span = (typeof SPANS)[number];
export const msOf = (span: Span): number => Number(span) * 60_000;

/** The least span that holds so many values, so that a server that has just begun is not seen as a line at the edge; half an hour at most. */
export const spanOf = (known: number, everyMs: number): Span => (known * everyMs <= msOf('10') ? '10' : '30');

/** Figures that are seen together, in one chart each; `bad` ones stand out. */
export const CHARTS = [
  { key: 'tasks', section: 'work', figures: ['tasks-waiting', 'tasks-running', 'workers'] },
  { key: 'attempts', section: 'work', figures: ['attempts', 'failed-attempts'] },
  { key: 'jobs', section: 'work', figures: ['jobs', 'failed-jobs'] },
  { key: 'clusters', section: 'work', figures: ['clusters-busy'] },
  { key: 'requests', section: 'answers', figures: ['requests', 'failed-requests'] },
  { key: 'requestTime', section: 'answers', figures: ['request-time'] },
  { key: 'followers', section: 'answers', figures: ['followers'] },
  { key: 'journal', section: 'process', figures: ['events', 'commits'] },
  { key: 'processor', section: 'process', figures: ['processor'] },
  { key: 'memory', section: 'process', figures: ['memory'] },
  { key: 'files', section: 'process', figures: ['open-files'] },
] as const;
export const SECTIONS = ['work', 'answers', 'process', 'other'] as const;
export type Section = (typeof SECTIONS)[number];
export type ChartKey = (typeof CHARTS)[number]['key'];

export interface Chart {
  /** What it is called; a figure that is not known here has a chart of its own. */
  key: string;
  section: Section;
  figures: Figure[];
}

export function chartsOf(figures: Figure[]): Chart[] {
  const byName = new Map(figures.map((figure) => [figure.name, figure]));
  const known: Chart[] = CHARTS.map(({ key, section, figures: names }) => ({
    key,
    section,
    figures: names.flatMap((name) => byName.get(name) ?? []),
  }));
  const named = new Set<string>(CHARTS.flatMap((chart) => chart.figures));
  const other = figures.filter((figure) => !named.has(figure.name));
  return [...known.filter((chart) => chart.figures.length > 0), ...other.map((figure) => ({ key: figure.name, section: 'other' as const, figures: [figure] }))];
}

/** The times of the last `span`, and how many of a figure's values come before them. */
export function times(history: MetricsHistory, span: number): number[] {
  const count = Math.floor(span / history.everyMs) + 1;
  return Array.from({ length: count }, (_, at) => history.until - (count - 1 - at) * history.everyMs);
}

/** A figure's values at the last `count` times; `null` before it was measured for the first time. */
export function lately(values: (number | null)[], count: number): (number | null)[] {
  const last = values.slice(-count);
  return [...Array.from({ length: count - last.length }, () => null), ...last];
}

/** The time next to this one among those that are `everyMs` apart, as its number. */
export const nearest = (times: number[], ms: number): number => {
  const [first, second] = times;
  if (first === undefined || second === undefined) return 0;
  return Math.max(0, Math.min(times.length - 1, Math.round((ms - first) / (second - first))));
};
