/** A browser, and what a person looks for in it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page } from 'playwright-core';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Opened {
  browser: Browser;
  page: Page;
  /** What the browser complained about. */
  faults: string[];
}

export async function open(): Promise<Opened> {
  const browser = await chromium.launch({ executablePath: process.env.COOPERAGE_CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS });
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: 'light', locale: 'en-GB' });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on('pageerror', (fault) => faults.push(String(fault.stack ?? fault)));
  page.on('console', (said) => {
    // Who is not signed in, or has no server, is told so by the page; the browser writes it down all the same.
    const isExpected = /Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(said.text());
    if (said.type() === 'error' && !isExpected) faults.push(said.text());
  });
  return { browser, page, faults };
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What is hard or impossible to use for some, by the rules of WCAG 2.2 AA and of good practice, or by some of them only. */
export async function barriers(page: Page, rules?: string[]): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async (rules) => {
    const axe = (globalThis as unknown as { axe: { run(of: Document, how: object): Promise<{ violations: unknown[] }> } }).axe;
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    // What is seen of a name is part of it: still called an experiment.
    const more = rules ? {} : { 'label-content-name-mismatch': { enabled: true } };
    return (await axe.run(document, { runOnly: rules ? { type: 'rule', values: rules } : { type: 'tag', values: tags }, rules: more, resultTypes: ['violations'] })).violations;
  }, rules);
  return (found as Violation[]).map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary.split('\n')[1] ?? ''}`).join(' | ')}`);
}

/** How far the page is wider than what is seen of it, in pixels. */
export const beyondEdge = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Opens an address; again when machines that come or go have changed the host's network, for which a browser drops what it loads. */
export async function go(page: Page, address: string): Promise<void> {
  for (let left = 5; ; left -= 1) {
    try {
      await page.goto(address);
      return;
    } catch (fault) {
      if (left === 0 || !String(fault).includes('ERR_NETWORK_CHANGED')) throw fault;
    }
  }
}
