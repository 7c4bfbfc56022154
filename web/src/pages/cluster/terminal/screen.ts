/** The screen of a terminal. Loaded only where one is opened. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal, type ITheme } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import type { Size } from '../../../lib/live/terminal.ts';
import { strictStyles } from './styles.ts';

/** The sixteen colours of terminals, on light and on dark ground: each with enough contrast to be read. */
const LIGHT: ITheme = {
  black: '#16202b', red: '#a8231d', green: '#1c6b3c', yellow: '#855207', blue: '#0f5c9c', magenta: '#8a3aa8', cyan: '#0d6a78', white: '#4a5867',
  brightBlack: '#5c6a79', brightRed: '#b52a24', brightGreen: '#1f7541', brightYellow: '#7c4d06', brightBlue: '#0b4f88', brightMagenta: '#7a2f96', brightCyan: '#0a5a66', brightWhite: '#16202b',
};
const DARK: ITheme = {
  black: '#28323d', red: '#ff938a', green: '#6fd195', yellow: '#edb75a', blue: '#6cb6f5', magenta: '#d695ef', cyan: '#63cfdd', white: '#c6d0db',
  brightBlack: '#8f9dad', brightRed: '#ffb0a9', brightGreen: '#93e0b1', brightYellow: '#f5cd86', brightBlue: '#95cbf9', brightMagenta: '#e3b5f4', brightCyan: '#90dfea', brightWhite: '#ffffff',
};

/** Colours as the page has them now. */
function theme(of: HTMLElement): ITheme {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const chosen = document.documentElement.dataset.theme;
  const isDark = chosen ? chosen === 'dark' : dark;
  const { backgroundColor, color } = getComputedStyle(of);
  return { ...(isDark ? DARK : LIGHT), background: backgroundColor, foreground: color, cursor: color, cursorAccent: backgroundColor, selectionBackground: isDark ? '#2470ad' : '#b9d5ee', selectionForeground: isDark ? '#ffffff' : '#16202b' };
}

export interface Screen {
  readonly size: Size;
  write(bytes: Uint8Array, done: () => void): void;
  note(text: string): void;
  focus(): void;
  clear(): void;
  readAloud(isOn: boolean): void;
  recolour(): void;
  /** What is selected. */
  readonly selection: string;
  paste(text: string): void;
  close(): void;
}

interface Heard {
  typed(text: string): void;
  typedBytes(bytes: Uint8Array): void;
  resized(size: Size): void;
}

export function open(place: HTMLElement, heard: Heard, label: string, isReadAloud: boolean): Screen {
  const loosen = strictStyles();
  const terminal = new Terminal({
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    fontFamily: getComputedStyle(place).fontFamily,
    fontSize: 13,
    minimumContrastRatio: 4.5,
    screenReaderMode: isReadAloud,
    scrollback: 10_000,
    theme: theme(place),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(place);
  terminal.textarea?.setAttribute('aria-label', label);
  fit.fit();
  terminal.onData((text) => heard.typed(text));
  terminal.onBinary((text) => heard.typedBytes(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
  terminal.onResize(({ cols, rows }) => heard.resized({ columns: cols, rows }));
  // As terminals of desktops have it: Ctrl+C is for the machine, Ctrl+Shift+C for what is selected.
  terminal.attachCustomKeyEventHandler((event) => {
    const isCopy = event.type === 'keydown' && event.ctrlKey && event.shiftKey && event.code === 'KeyC';
    if (isCopy) {
      event.preventDefault();
      document.execCommand('copy');
    }
    return !isCopy;
  });
  const watcher = new ResizeObserver(() => fit.fit());
  watcher.observe(place);
  return {
    get size() {
      return { columns: terminal.cols, rows: terminal.rows };
    },
    get selection() {
      return terminal.getSelection();
    },
    write: (bytes, done) => terminal.write(bytes, done),
    note: (text) => terminal.write(`\r\n\x1b[2m${text}\x1b[0m\r\n`),
    focus: () => terminal.focus(),
    clear: () => terminal.reset(),
    readAloud: (isOn) => (terminal.options.screenReaderMode = isOn),
    recolour: () => (terminal.options.theme = theme(place)),
    paste: (text) => terminal.paste(text),
    close() {
      watcher.disconnect();
      terminal.dispose();
      loosen();
    },
  };
}
