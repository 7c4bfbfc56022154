/** A price as people read it; in whatever money the operator counts. */
export const money = (price: number, locale: string): string => price.toLocaleString(locale, { maximumFractionDigits: 4 });

/** What those cost together whose price is known; nothing where none is. */
export function together(priced: readonly { pricePerHour?: number | null }[]): number | undefined {
  const known = priced.flatMap(({ pricePerHour }) => (typeof pricePerHour === 'number' ? [pricePerHour] : []));
  return known.length > 0 ? known.reduce((sum, price) => sum + price, 0) : undefined;
}
