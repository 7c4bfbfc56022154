/** When a lease ends, as somebody says it. */
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What is often wanted, in ms. */
export const LONGER = [2 * HOUR, DAY, 7 * DAY] as const;

/** So much longer than it was; than now, where that has passed or there was none. */
export const extended = (end: number, now: number, more: number = DAY): number => Math.max(end, now) + more;

/** As `<input type="datetime-local">` wants it, in the time of this place: without seconds. */
export const local = (ms: number): string => new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
