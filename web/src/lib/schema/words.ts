/** Faults and hints in words. */
import type { Words } from '../i18n/en.ts';
import type { Fault, Wrong } from './check.ts';
import type { Hint, Told } from './complete.ts';
import type { NamedKind } from './references.ts';
import { pathText } from './schema.ts';

const typesText = (types: readonly string[], t: Words): string => t.editor.or(types.map((type) => t.editor.types[type] ?? type));

function kindText(kind: NamedKind, t: Words): string {
  return kind === 'providertypes' || kind === 'automatortypes' ? t.editor.plugin[kind] : t.catalog.kinds[kind];
}

function wrongText(wrong: Wrong, t: Words): string {
  const said = t.editor.wrong;
  switch (wrong.is) {
    case 'broken':
      return t.catalog.notRead(t.editor.broken[wrong.code] ?? wrong.text);
    case 'type':
      return said.type(typesText(wrong.expected, t));
    case 'missing':
      return said.missing(wrong.field);
    case 'unknown':
      return wrong.isRefused ? said.refused(wrong.field) : said.unknown(wrong.field);
    case 'foreign':
      return said.foreign(wrong.field);
    case 'choice':
      return said.choice(wrong.of.join(', '));
    case 'least':
      return said.least(String(wrong.least));
    case 'most':
      return said.most(String(wrong.most));
    case 'nowhere':
      return said.nowhere(kindText(wrong.kind, t));
    case 'refused':
      return wrong.text;
    default:
      return said[wrong.is];
  }
}

const LONGEST = 60;

/** A fault in a sentence: where, what stands there, what is expected, what may be meant. */
export function faultText({ path, value, wrong }: Fault, t: Words): string {
  const shown = value === undefined ? '' : ` “${value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value}”`;
  const near = 'near' in wrong && wrong.near ? `. ${t.editor.wrong.near(wrong.near)}` : '';
  const place = path + shown;
  return `${place ? `${place}: ` : ''}${wrongText(wrong, t)}${near}`;
}

/** What a field or value is, beside its name. */
export function detailText({ kind, types, isRequired }: Hint, t: Words): string {
  const of = kind ? kindText(kind, t) : typesText(types, t);
  return isRequired ? [of, t.editor.required].filter(Boolean).join(', ') : of;
}

/** What is to be known of a field, beside what it is for. */
export function moreText({ types, values, initial }: Told, t: Words): string {
  const of = values.length > 0 ? t.editor.values(values.join(', ')) : typesText(types, t);
  return [of, initial === undefined ? '' : t.editor.initial(JSON.stringify(initial))].filter(Boolean).join(' · ');
}

export const titleText = ({ path }: Told): string => pathText(path);
