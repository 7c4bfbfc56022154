import { expect, test } from 'vitest';
import { perHour } from './price.ts';

const machine = (hardwaretype: string) => ({ properties: { hardwaretype } }) as Parameters<typeof perHour>[0][number];
const hardware: Parameters<typeof perHour>[1] = [
  { name: 'small', providermap: { lab: { flavor: 's', price: '0.05' }, cloud: { flavor: 'm1', price: '0.5' } } },
  { name: 'large', providermap: { lab: { flavor: 'l', price: 0.2 } } },
  { name: 'free', providermap: { lab: { flavor: 'f' } } },
];

test.each([
  [['small', 'small', 'large'], 'lab', 0.3],
  [['small'], 'cloud', 0.5],
  [['small', 'free'], 'lab', undefined],
  [['large'], 'cloud', undefined],
  [['gone'], 'lab', undefined],
  [[], 'lab', undefined],
  [['small'], undefined, undefined],
])('%s with %s cost %s an hour', (machines, provider, cost) => {
  const found = perHour(machines.map(machine), hardware, provider);
  if (cost === undefined) expect(found).toBeUndefined();
  else expect(found).toBeCloseTo(cost);
});
