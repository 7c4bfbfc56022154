/** What machines cost, by the prices that hardware types have now. */
import type { Shapes } from './api/client.ts';

type Machine = Pick<Shapes['Node'], 'properties'>;
type Hardware = { name: string; providermap?: Record<string, Record<string, unknown>> };

/** A price as people read it; in whatever money the operator counts. */
export const money = (price: number, locale: string): string => price.toLocaleString(locale, { maximumFractionDigits: 4 });

/** What these machines cost an hour together; nothing where the price of one is not known, or where there is none. */
export function perHour(machines: readonly Machine[], hardware: readonly Hardware[], provider: string | undefined): number | undefined {
  if (provider === undefined || machines.length === 0) return undefined;
  const prices = new Map(hardware.map((one) => [one.name, one.providermap?.[provider]?.['price']]));
  let sum = 0;
  for (const machine of machines) {
    const written = prices.get(machine.properties?.hardwaretype ?? '');
    const price = written === undefined || written === '' ? Number.NaN : Number(written);
    if (!Number.isFinite(price) || price < 0) return undefined;
    sum += price;
  }
  return sum;
}
