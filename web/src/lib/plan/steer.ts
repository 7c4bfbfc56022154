/** From one thing in a picture to the next with the arrow keys. */

export interface Place {
  id: string;
  x: number;
  y: number;
}

/** How much it counts that something lies aside of the way, on the way to the left or right and on the way up or down. */
export interface Aside {
  across: number;
  down: number;
}

const WAYS: Record<string, { x: number; y: number }> = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };

/** What comes next in the way of the key; undefined where nothing does, and for other keys. */
export function steered(places: Place[], from: string, key: string, aside: Aside): string | undefined {
  if (key === 'Home') return places[0]?.id;
  if (key === 'End') return places.at(-1)?.id;
  const [way, here] = [WAYS[key], places.find((place) => place.id === from)];
  if (!way || !here) return undefined;
  let best: { id: string; far: number } | undefined;
  for (const place of places) {
    const [dx, dy] = [place.x - here.x, place.y - here.y];
    const along = dx * way.x + dy * way.y;
    if (along < 1) continue;
    const far = along + (way.x ? Math.abs(dy) * aside.across : Math.abs(dx) * aside.down);
    if (!best || far < best.far) best = { id: place.id, far };
  }
  return best?.id;
}

/** Which of them is reached by Tab: what has the focus or is chosen, or else the first. */
export const stop = (ids: string[], ...wanted: (string | undefined)[]): string | undefined => wanted.find((one) => one !== undefined && ids.includes(one)) ?? ids[0];
