/** What the editor is told of a place in a text, in words. */
import type { Words } from '../../lib/i18n/en.ts';
import type { About } from '../../lib/schema/check.ts';
import { hints, inserted, told } from '../../lib/schema/complete.ts';
import { typedAt } from '../../lib/schema/cursor.ts';
import { placeAt, reading } from '../../lib/schema/text.ts';
import { detailText, moreText, titleText } from '../../lib/schema/words.ts';
import type { AboutPlace, Language, Offered } from './codemirror.ts';

/** What can be written at an offset. Nobody is told who did not ask and has not begun to type, but where a value is due. */
export function offeredAt(text: string, offset: number, isAsked: boolean, about: About, language: Language, t: Words): Offered | undefined {
  const typed = typedAt(text, offset);
  if (!typed || (!isAsked && typed.from === offset && typed.cursors.every(({ isKey }) => isKey))) return undefined;
  const found = hints(typed, about);
  if (found.length === 0) return undefined;
  return {
    from: typed.from,
    hints: found.map((hint) => ({
      text: hint.text,
      detail: detailText(hint, t),
      about: hint.about,
      isKey: hint.isKey,
      rank: hint.isRequired ? 2 : hint.kind ? 1 : 0,
      insert: (now, to) => inserted(hint, now, typed.from, to, language === 'json'),
    })),
  };
}

/** What is to be known of what stands at an offset. */
export function toldAt(text: string, offset: number, about: About, t: Words): AboutPlace | undefined {
  const { doc } = reading(text);
  const place = placeAt(doc.contents, offset);
  const found = place && told(about, place.path, doc);
  return found && { from: place.at.from, to: place.at.to, title: titleText(found), about: found.about, more: moreText(found, t) };
}
