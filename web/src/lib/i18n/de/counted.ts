/** Wie viele von etwas, auf Deutsch. */
export const n = (count: number, one: string, many: string): string => `${count.toLocaleString('de')} ${count === 1 ? one : many}`;
