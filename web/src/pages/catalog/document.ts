/** Entities as text, and the difference between two. */
import { diffLines } from 'diff';
import { stringify } from 'yaml';

export type Format = 'yaml' | 'json';

export const written = (entity: unknown, format: Format): string =>
  format === 'json' ? JSON.stringify(entity, null, 2) + '\n' : stringify(entity, { lineWidth: 120, aliasDuplicateObjects: false });

export interface DiffRow {
  sign: ' ' | '+' | '-';
  text: string;
}

/** Line by line, what became of one text in the other; `version` is different always, and says nothing. */
export function compared(before: unknown, after: unknown, format: Format): DiffRow[] {
  const plain = (entity: unknown) => {
    const { version: _, ...rest } = (entity ?? {}) as Record<string, unknown>;
    return Object.keys(rest).length > 0 ? written(rest, format) : '';
  };
  return diffLines(plain(before), plain(after)).flatMap((part) =>
    part.value.replace(/\n$/, '').split('\n').map((text): DiffRow => ({ sign: part.added ? '+' : part.removed ? '-' : ' ', text })),
  );
}
