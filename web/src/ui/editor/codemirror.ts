/**
 * The editor itself. Loaded only where one is opened.
 *
 * It lives in a shadow root: there, and only there, the library makes its styles as sheets that scripts may make, where it
 * would else write a style element, which the policy of the server does not let in.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, pickedCompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers, type Tooltip } from '@codemirror/view';
import { colours } from './colours.ts';

export type Language = 'yaml' | 'json';

/** What can be written where something is typed. */
export interface Offered {
  from: number;
  hints: { text: string; detail?: string; about?: string; isKey: boolean; rank: number; insert(text: string, to: number): { from: number; to: number; text: string; cursor: number } }[];
}

/** What is to be known of a place. */
export interface AboutPlace {
  from: number;
  to: number;
  title: string;
  about?: string;
  more?: string;
}

export interface Asked {
  label: string;
  language: Language;
  text: string;
  phrases: Record<string, string>;
  changed(text: string): void;
  offered(text: string, offset: number, isAsked: boolean): Offered | undefined;
  about(text: string, offset: number): AboutPlace | undefined;
}

export interface Marked {
  from: number;
  to: number;
  severity: 'error' | 'warning';
  text: string;
}

export interface Editor {
  /** Puts another text in the place of the whole, unless it is there already. */
  write(text: string): void;
  speak(language: Language): void;
  mark(faults: readonly Marked[]): void;
  /** Goes to a place, and shows it. */
  goTo(offset: number): void;
  focus(): void;
  close(): void;
}

const spoken = (language: Language): Extension => (language === 'json' ? json() : yaml());

function completed({ text, detail, about, isKey, rank, insert }: Offered['hints'][number]): Completion {
  return {
    label: text,
    detail,
    info: about,
    type: isKey ? 'field' : 'value',
    boost: rank,
    apply(view, completion, _, to) {
      const put = insert(view.state.doc.toString(), to);
      view.dispatch({ changes: { from: put.from, to: put.to, insert: put.text }, selection: { anchor: put.from + put.cursor }, scrollIntoView: true, userEvent: 'input.complete', annotations: pickedCompletion.of(completion) });
    },
  };
}

const complete = (asked: Asked) => (context: CompletionContext): CompletionResult | null => {
  const offered = asked.offered(context.state.doc.toString(), context.pos, context.explicit);
  return offered ? { from: offered.from, options: offered.hints.map(completed), validFor: /^[\p{L}\p{N}_.-]*$/u } : null;
};

function bubble({ title, about, more }: AboutPlace): HTMLElement {
  const element = document.createElement('div');
  element.className = 'cm-about';
  for (const [name, text] of [['code', title], ['span', about], ['small', more]] as const) {
    if (!text) continue;
    const part = document.createElement(name);
    part.textContent = text;
    element.append(part);
  }
  return element;
}

const hover = (asked: Asked) => (view: EditorView, offset: number): Tooltip | null => {
  const found = asked.about(view.state.doc.toString(), offset);
  return found ? { pos: found.from, end: found.to, above: true, create: () => ({ dom: bubble(found) }) } : null;
};

/** What Escape has closed in the editor it does not close around it, as the dialog. */
function keepEscape(event: Event): void {
  if ((event as KeyboardEvent).key === 'Escape' && event.defaultPrevented) event.stopPropagation();
}

/** Tab is not bound: it leaves the editor, as it leaves every other field. Mod-] and Mod-[ indent. */
const KEYS = keymap.of([...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...foldKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]);

const extensions = (asked: Asked, speech: Compartment): Extension => [
  speech.of(spoken(asked.language)),
  lineNumbers(), foldGutter({ openText: '▾', closedText: '▸' }), lintGutter(), history(), drawSelection(), dropCursor(), indentOnInput(), indentUnit.of('  '),
  bracketMatching(), closeBrackets(), highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), search({ top: true }),
  autocompletion({ override: [complete(asked)], icons: false, activateOnCompletion: ({ type }) => type === 'field' }),
  hoverTooltip(hover(asked)), KEYS, colours,
  EditorState.tabSize.of(2), EditorState.phrases.of(asked.phrases), EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': asked.label, tabindex: '0' }),
  EditorView.updateListener.of((update) => {
    if (update.docChanged) asked.changed(update.state.doc.toString());
  }),
];

export function open(place: HTMLElement, asked: Asked): Editor {
  const root = place.attachShadow({ mode: 'open' });
  root.addEventListener('keydown', keepEscape);
  const speech = new Compartment();
  const state = EditorState.create({ doc: asked.text, extensions: extensions(asked, speech) });
  const view = new EditorView({ state, parent: root, root });
  return {
    write(text) {
      const { doc } = view.state;
      if (doc.toString() !== text) view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    },
    speak: (language) => view.dispatch({ effects: speech.reconfigure(spoken(language)) }),
    mark(faults) {
      const end = view.state.doc.length;
      const found = faults.map(({ from, to, severity, text }): Diagnostic => ({ from: Math.min(from, end), to: Math.min(to, end), severity, message: text }));
      view.dispatch(setDiagnostics(view.state, found));
    },
    goTo(offset) {
      view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, effects: EditorView.scrollIntoView(offset, { y: 'center' }) });
      view.focus();
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}
