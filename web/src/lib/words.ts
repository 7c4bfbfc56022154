/** What is found by words. */

/** Those whose text has all of the words somewhere, in any case. */
export function matchingText<T>(all: T[], typed: string, text: (one: T) => string): T[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  return all.filter((one) => {
    const told = text(one).toLowerCase();
    return words.every((word) => told.includes(word));
  });
}
