/** What the interface costs with 200 clusters of 50 machines each, 50 of which are being brought up. */
import { expect, test } from 'vitest';
import { go, open } from './browser.ts';
import { Installation } from './installation.ts';
import type { CDPSession, Page } from 'playwright-core';

const program = process.env.COOPERAGE_PROGRAM ?? '../target/release/cooperage';
const count = (name: string, standard: number) => Number(process.env[name] ?? standard);
const CLUSTERS = count('SCALE_CLUSTERS', 200);
const RUNNING = count('SCALE_RUNNING', 50);
const NODES = count('SCALE_NODES', 50);
const SERVICES = 4;
/** For how long frames are counted. */
const WATCHED = 10_000;
/** A frame that comes later than this is one that a person sees missing. */
const LATE = 100;

interface Row {
  page: string;
  ready: number;
  frames: number;
  late: number;
  longest: number;
  heap: number;
}

/** How frames come while the page is live. */
const frames = (page: Page): Promise<{ frames: number; late: number; longest: number }> =>
  page.evaluate(
    ({ watched, late }) =>
      new Promise((done) => {
        const gaps: number[] = [];
        const begun = performance.now();
        let last = begun;
        const frame = (now: number) => {
          gaps.push(now - last);
          last = now;
          if (now - begun < watched) requestAnimationFrame(frame);
          else done({ frames: gaps.length, late: gaps.filter((gap) => gap > late).length, longest: Math.max(...gaps) });
        };
        requestAnimationFrame(frame);
      }),
    { watched: WATCHED, late: LATE },
  );

/** What the page's own objects take, in MiB, once nothing is left that nobody needs. */
async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1_048_576;
}

test('many clusters', async () => {
  const server = await Installation.start(program);
  try {
    await server.stock(SERVICES);
    server.work(32, 0);
    for (let number = 0; number < CLUSTERS - RUNNING; number += 1) await server.create(`done-${number}`, NODES);
    await expect.poll(() => pending(server), { timeout: 600_000, interval: 1_000 }).toBe(0);
    await server.rest();
    const ids: string[] = [];
    for (let number = 0; number < RUNNING; number += 1) ids.push(await server.create(`running-${number}`, NODES));
    server.work(200, 1_000);
    const before = server.done;
    const begun = Date.now();
    const rows = await look(server, ids.at(-1) ?? '');
    const rate = ((server.done - before) / (Date.now() - begun)) * 1_000;
    const still = await pending(server);
    console.log(`${CLUSTERS} clusters of ${NODES} machines, ${still} of ${RUNNING} plans still under way in the end, ${rate.toFixed(0)} tasks a second`);
    console.log(table(rows));
    expect(still).toBe(RUNNING);
  } finally {
    await server.stop();
  }
});

async function pending(server: Installation): Promise<number> {
  const list = (await server.ask('GET', `/v2/clusters?status=pending&limit=${CLUSTERS}`)) as unknown as unknown[];
  return list.length;
}

async function look(server: Installation, id: string): Promise<Row[]> {
  const { code } = (await server.ask('POST', '/v2/login-codes')) as { code: string };
  const { browser, page, faults } = await open();
  try {
    await go(page, `${server.base}/#code=${code}`);
    await page.getByRole('status', { name: 'Live' }).waitFor();
    const session = await page.context().newCDPSession(page);
    const rows: Row[] = [];
    const pages: [string, string, () => Promise<void>][] = [
      ['clusters', '/clusters', () => page.getByRole('link', { name: /^(running|done)-/ }).first().waitFor()],
      ['a cluster', `/clusters/${id}`, () => page.getByRole('heading', { level: 1 }).waitFor()],
      ['its plan', `/clusters/${id}/plan`, () => page.getByRole('button', { name: 'Gantt' }).waitFor()],
      ['its output', `/clusters/${id}/logs`, () => page.getByRole('tab', { name: /Logs/ }).or(page.getByRole('link', { name: /Logs/ })).first().waitFor()],
      ['its history', `/clusters/${id}/history`, () => page.getByRole('slider').first().waitFor()],
    ];
    for (const [name, path, isThere] of pages) {
      const begun = performance.now();
      await go(page, server.base + path);
      await isThere();
      // One that does not answer is not there yet.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
      const ready = performance.now() - begun;
      await page.waitForTimeout(1_000);
      rows.push({ page: name, ready, ...(await frames(page)), heap: await heap(session) });
      const folder = process.env.COOPERAGE_SHOTS;
      if (folder) await page.screenshot({ path: `${folder}/scale-${rows.length}.png` });
    }
    expect(faults).toEqual([]);
    return rows;
  } finally {
    await browser.close();
  }
}

const table = (rows: Row[]): string =>
  [
    '| Page | Answers after | Frames/s | Frames later than 100 ms | Longest | Memory |',
    '|---|---|---|---|---|---|',
    ...rows.map((it) => `| ${it.page} | ${it.ready.toFixed(0)} ms | ${((it.frames / WATCHED) * 1_000).toFixed(0)} | ${it.late} | ${it.longest.toFixed(0)} ms | ${it.heap.toFixed(1)} MiB |`),
  ].join('\n');
