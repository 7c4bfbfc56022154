/** Colours of terminals in a text, and what is looked for in it. */
export interface Piece {
  text: string;
  /** A colour of terminals from 0 to 7. */
  colour?: number;
  isBold?: boolean;
  isFound?: boolean;
}

const ESCAPE = /\u001b\[([0-9;]*)([A-Za-z])/g;

export function coloured(text: string): Piece[] {
  const pieces: Piece[] = [];
  let [at, colour, isBold]: [number, number | undefined, boolean] = [0, undefined, false];
  const put = (part: string) => part && pieces.push({ text: part, colour, isBold });
  for (const match of text.matchAll(ESCAPE)) {
    put(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] !== 'm') continue;
    for (const code of (match[1] || '0').split(';').map(Number)) {
      if (code === 0) [colour, isBold] = [undefined, false];
      else if (code === 1) isBold = true;
      else if (code >= 30 && code <= 37) colour = code - 30;
      else if (code >= 90 && code <= 97) colour = code - 90;
      else if (code === 39) colour = undefined;
    }
  }
  put(text.slice(at));
  return pieces;
}

/** Marks what is looked for. What is no pattern here marks nothing: the server has looked already. */
export function marked(pieces: Piece[], search: string | undefined, ignoreCase: boolean, regex: boolean): Piece[] {
  if (!search) return pieces;
  let pattern: RegExp;
  try {
    pattern = new RegExp(regex ? search : search.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), ignoreCase ? 'gi' : 'g');
  } catch {
    return pieces;
  }
  return pieces.flatMap((piece) => {
    const parts: Piece[] = [];
    let at = 0;
    for (const match of piece.text.matchAll(pattern)) {
      if (match[0] === '') continue;
      if (match.index > at) parts.push({ ...piece, text: piece.text.slice(at, match.index) });
      parts.push({ ...piece, text: match[0], isFound: true });
      at = match.index + match[0].length;
    }
    if (at < piece.text.length || parts.length === 0) parts.push({ ...piece, text: piece.text.slice(at) });
    return parts;
  });
}
