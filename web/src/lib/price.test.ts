import { expect, test } from 'vitest';
import { money, together } from './price.ts';

test('what clusters cost together is said where one has a price', () => {
  expect(together([{ pricePerHour: 0.25 }, {}, { pricePerHour: null }, { pricePerHour: 2 }])).toBe(2.25);
  expect(together([{ pricePerHour: 0 }])).toBe(0);
  expect(together([{}])).toBeUndefined();
  expect(together([])).toBeUndefined();
});

test('prices are written as people read them', () => {
  expect(money(0.1 + 0.2, 'en')).toBe('0.3');
  expect(money(1234.5, 'de')).toBe('1.234,5');
});
