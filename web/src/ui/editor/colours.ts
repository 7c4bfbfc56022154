/** How text is shown in the editor: by the tokens of the page, which reach into its root. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const SPEECH = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--critical)' },
  { tag: [tags.comment, tags.meta], color: 'var(--text-faint)' },
  { tag: [tags.labelName, tags.typeName, tags.attributeValue], color: 'var(--wait)' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--text-soft)' },
]);

const wave = (colour: string) => ({
  backgroundImage: 'none',
  paddingBottom: '0',
  textDecoration: `underline wavy ${colour} 1px`,
  textUnderlineOffset: '0.2em',
});

const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.8125rem', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', paddingBlock: '0.5rem' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': { background: 'light-dark(#b9d5ee, #24507a)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--text-faint)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'light-dark(#0f5c9c0d, #6cb6f512)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--text)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--sunken)', border: '1px solid var(--line)', color: 'var(--text-soft)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)', color: 'inherit' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)', color: 'var(--bad)' },
  '.cm-searchMatch': { backgroundColor: 'var(--wait-soft)', outline: '1px solid var(--wait-fill)' },
  '.cm-searchMatch-selected': { backgroundColor: 'light-dark(#f2c675, #7a5a17)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--accent-soft)' },
  '.cm-lintRange-error': wave('var(--bad)'),
  '.cm-lintRange-warning': wave('var(--wait)'),
  '.cm-lintPoint:after': { bottom: '0' },
});

const TOOLTIPS = EditorView.theme({
  '.cm-tooltip': { border: '1px solid var(--line-strong)', borderRadius: 'var(--radius-small)', backgroundColor: 'var(--raised)', color: 'var(--text)', boxShadow: 'var(--shadow)', zIndex: '50' },
  '.cm-tooltip .cm-tooltip-arrow': { display: 'none' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '0.8125rem', maxWidth: 'min(32rem, 90vw)', maxHeight: '14rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { display: 'flex', gap: '1rem', padding: '0.25rem 0.625rem', lineHeight: '1.4' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent-fill)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { marginInlineStart: 'auto', fontStyle: 'normal', fontFamily: 'var(--sans)', color: 'var(--text-soft)' },
  '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.5rem 0.75rem', maxWidth: 'min(22rem, 80vw)', fontFamily: 'var(--sans)', lineHeight: '1.5' },
  '.cm-about': { display: 'grid', gap: '0.25rem', padding: '0.5rem 0.75rem', maxWidth: 'min(26rem, 80vw)', fontFamily: 'var(--sans)', lineHeight: '1.5' },
  '.cm-about code': { fontFamily: 'var(--mono)', fontWeight: '600', overflowWrap: 'anywhere' },
  '.cm-about small': { color: 'var(--text-soft)', fontSize: 'var(--t-small)' },
  '.cm-diagnostic': { padding: '0.375rem 0.75rem', fontFamily: 'var(--sans)', lineHeight: '1.5', borderLeft: '3px solid transparent', maxWidth: 'min(30rem, 80vw)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad-fill)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--wait-fill)' },
  '.cm-gutter-lint': { width: '1.25rem' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0.2rem' },
  // Told by shape as well as by colour.
  '.cm-lint-marker': { width: '0.85em', height: '0.85em', borderRadius: '50%', content: 'normal' },
  '.cm-lint-marker-error': { content: 'normal', backgroundColor: 'var(--bad-fill)' },
  '.cm-lint-marker-warning': { content: 'normal', backgroundColor: 'var(--wait-fill)', borderRadius: '0', clipPath: 'polygon(50% 0, 100% 100%, 0 100%)' },
});

const PANELS = EditorView.theme({
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)', fontFamily: 'var(--sans)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: '0.25rem 0.375rem', padding: '0.5rem 2.25rem 0.5rem 0.5rem' },
  '.cm-panel.cm-search br': { display: 'none' },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': { margin: '0', fontSize: '0.8125rem' },
  '.cm-panel.cm-search label': { display: 'inline-flex', alignItems: 'center', gap: '0.25rem' },
  '.cm-textfield': { border: '1px solid var(--line-strong)', borderRadius: 'var(--radius-small)', backgroundColor: 'var(--surface)', color: 'var(--text)', padding: '0.2rem 0.5rem', minHeight: '1.75rem' },
  '.cm-button': { border: '1px solid var(--line-strong)', borderRadius: 'var(--radius-small)', backgroundColor: 'var(--raised)', backgroundImage: 'none', color: 'var(--text)', padding: '0.2rem 0.6rem', minHeight: '1.75rem' },
  '.cm-panel.cm-search [name=close]': { position: 'absolute', insetInlineEnd: '0.375rem', top: '0.375rem', minWidth: '1.75rem', minHeight: '1.75rem', fontSize: '1.125rem', color: 'var(--text-soft)', cursor: 'pointer' },
  '.cm-textfield:focus-visible, .cm-button:focus-visible, [name=close]:focus-visible': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
});

export const colours: Extension = [LOOK, TOOLTIPS, PANELS, syntaxHighlighting(SPEECH)];
