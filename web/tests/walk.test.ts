/** What a person does with the web interface, from the first sign-in to the last machine. The steps follow each other. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { barriers, beyondEdge, go, open, type Opened } from './browser.ts';

const base = process.env.COOPERAGE_BASE ?? '';
const token = process.env.COOPERAGE_TOKEN ?? '';
/** Written to have the server killed; it is started again a few seconds later. */
const killFile = process.env.COOPERAGE_KILL_FILE ?? '';
let it: Opened;
let cluster = '';

beforeAll(async () => {
  it = await open();
});
afterAll(async () => {
  await it?.browser.close();
});

/** What was seen when a step failed, where somebody wants to look. */
afterEach(async ({ task }) => {
  const folder = process.env.COOPERAGE_SHOTS;
  if (folder && task.result?.state === 'fail') await it.page.screenshot({ path: `${folder}/${task.name.replaceAll(/\W+/g, '-')}.png` });
});

async function code(): Promise<string> {
  const answer = await fetch(`${base}/v2/login-codes`, { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { code: string }).code;
}

test('an address signs in, once', async () => {
  const { page } = it;
  const address = `${base}/#code=${await code()}`;
  await go(page, address);
  await page.getByRole('heading', { name: 'No clusters yet' }).waitFor();
  expect(page.url()).not.toContain('code');
  await page.getByRole('status', { name: 'Live' }).waitFor();
  const stranger = await (await it.browser.newContext()).newPage();
  await go(stranger, address);
  await stranger.getByRole('heading', { name: 'Sign in' }).waitFor();
  await stranger.context().close();
});

test('a password signs in, too', async () => {
  const { page } = it;
  await go(page, `${base}/profile`);
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('The password is changed').waitFor();
  await page.context().clearCookies();
  await go(page, `${base}/new`);
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'is wrong' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Which template?' }).waitFor();
});

test('a cluster is seen before it is made', async () => {
  const { page } = it;
  await page.getByRole('link', { name: 'Web', exact: true }).click();
  await page.getByLabel('Name').fill('walk');
  await page.getByLabel('Machines', { exact: true }).fill('2');
  await page.getByRole('heading', { name: 'There is no layout' }).waitFor();
  await page.getByRole('button', { name: 'Take 3 machines' }).click();
  await page.getByText('27 tasks', { exact: true }).waitFor();
  await page.getByText('ready in about').waitFor();
  expect(await page.getByText('counter · nginx').isVisible()).toBe(true);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL(/\/clusters\/\d+\/plan/);
  cluster = page.url().split('/')[4] ?? '';
});

test('its graph moves until all is done', async () => {
  const { page } = it;
  await page.getByRole('button', { name: / running$/ }).first().waitFor();
  await page.getByRole('button', { name: 'Gantt' }).click();
  await page.getByRole('region', { name: 'Gantt' }).getByText('now').waitFor();
  await page.getByRole('button', { name: 'Graph' }).click();
  await page.locator('h1 + .badge', { hasText: 'active' }).waitFor({ timeout: 150_000 });
  await page.getByText('27 of 27 tasks').waitFor();
  await page.getByRole('button', { name: /^START haproxy/ }).click();
  await page.getByText('haproxy: answers on port 80').waitFor();
});

test('each line of its output is found and has an address', async () => {
  const { page } = it;
  await page.getByRole('link', { name: 'Logs', exact: true }).click();
  await page.getByText('nginx: answers on port 80').first().waitFor();
  await page.getByRole('searchbox', { name: 'Search in the logs' }).fill('HAPROXY: ANSWERS');
  await page.keyboard.press('Enter');
  const found = page.locator('.line', { has: page.locator('mark', { hasText: 'haproxy: answers' }) });
  await found.getByRole('link', { name: /Link to this line/ }).click();
  await page.waitForURL(/task=.*#L1\.\d+$/);
  await page.reload();
  await page.locator('.linked', { hasText: 'haproxy: answers' }).waitFor();
});

test('a terminal on a node carries out what is typed', async () => {
  const { page } = it;
  await go(page, `${base}/clusters/${cluster}/node/1000`);
  await page.getByRole('link', { name: 'Terminal' }).click();
  await page.getByRole('status').filter({ hasText: 'connected' }).waitFor();
  const screen = page.locator('.xterm-rows');
  await page.keyboard.type('echo it is $((6*7)), $(stty size)\n');
  await screen.getByText(/it is 42, \d+ \d+/).waitFor();
  await page.keyboard.type('seq 1 200000; echo all$((1))here\n');
  await screen.getByText('all1here').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.type('printf "\\033[38;2;200;40;40mcolour\\033[0m\\n"; echo $((40+3))cols $(stty size)\n');
  await page.setViewportSize({ width: 390, height: 844 });
  await screen.getByText('43cols').waitFor();
  expect(await beyondEdge(page)).toBe(0);
  await page.keyboard.type('exit\n');
  await page.getByText('The shell has ended.').first().waitFor();
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.getByRole('button', { name: 'Open again' }).click();
  await page.getByRole('status').filter({ hasText: 'connected' }).waitFor();
  await go(page, `${base}/operations/audit`);
  await page.getByText('CLOSE /v2/clusters/{id}/nodes/{node}/terminal').first().waitFor();
  await go(page, `${base}/clusters/${cluster}`);
});

test('it grows, and nobody is surprised', async () => {
  const { page } = it;
  await page.getByRole('button', { name: 'Change the size' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('comes').waitFor();
  expect(await dialog.getByRole('spinbutton', { name: 'Machines' }).evaluate((field) => field.matches(':focus'))).toBe(true);
  expect(await barriers(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Change the size' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.locator('article').nth(3).waitFor();
  await page.locator('h1 + .badge', { hasText: 'active' }).waitFor({ timeout: 120_000 });
});

test('its nodes are written down for other programs', async () => {
  const { page } = it;
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('ansible_host').first().waitFor();
  await dialog.getByRole('combobox', { name: 'Export' }).selectOption('Prometheus');
  await dialog.getByText(':9100').first().waitFor();
  expect(await barriers(page)).toEqual([]);
  const [saved] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Save as a file' }).click()]);
  expect(saved.suggestedFilename()).toBe('walk-targets.json');
  const groups = JSON.parse(readFileSync(await saved.path(), 'utf8')) as { targets: string[] }[];
  expect(new Set(groups.flatMap((group) => group.targets)).size).toBe(4);
  await page.keyboard.press('Escape');
});

test.skipIf(!killFile)('a server that is gone is told, and comes back', async () => {
  const { page } = it;
  writeFileSync(killFile, '');
  await page.getByRole('alert').filter({ hasText: 'The server does not answer' }).waitFor();
  expect(await page.locator('main.stale').count()).toBe(1);
  await page.getByRole('status', { name: 'Live' }).waitFor({ timeout: 60_000 });
  expect(await page.locator('main.stale').count()).toBe(0);
  expect(existsSync(killFile)).toBe(false);
});

test('its past is there, and anything is found by name', async () => {
  const { page } = it;
  await go(page, `${base}/clusters/${cluster}/history`);
  await page.getByRole('slider').fill('3');
  await page.getByText('Different since then').waitFor();
  await page.getByRole('button', { name: 'Roll back to here' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('audit');
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/operations\/audit$/);
  await page.getByText('POST /v2/clusters').first().waitFor();
});

test('its actor is followed, paused and resumed', async () => {
  const { page } = it;
  const headers = { Authorization: `Bearer ${token}` };
  // It rests since the server has begun anew, and has no actor until there is something to do: here, to say that nothing is paused.
  await fetch(`${base}/v2/clusters/${cluster}/resume`, { method: 'POST', headers });
  await go(page, `${base}/operations/actors?filter=${cluster}`);
  await page.getByRole('button', { name: new RegExp(` ${cluster}$`) }).click();
  await page.getByRole('button', { name: 'Follow messages' }).click();
  const one = page.getByRole('region', { name: 'One actor' });
  for (const [action, state] of [['Pause', 'paused'], ['Resume', 'running']] as const) {
    await one.getByRole('button', { name: action }).click();
    await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
    await one.locator('.badge', { hasText: state }).waitFor();
  }
  await fetch(`${base}/v2/clusters/${cluster}`, { headers });
  await page.getByRole('region', { name: 'Messages:' }).getByText('GetState').first().waitFor();
});

const PAGES = () => [
  '/clusters', `/clusters/${cluster}`, `/clusters/${cluster}/plan`, `/clusters/${cluster}/plan?view=gantt`, `/clusters/${cluster}/plan?view=list`,
  `/clusters/${cluster}/logs`, `/clusters/${cluster}/config`, `/clusters/${cluster}/history?at=9`, `/clusters/${cluster}/placement`,
  `/clusters/${cluster}/node/1000`, `/clusters/${cluster}/terminal/1000`, '/new', '/new/web', '/catalog/services/nginx', '/catalog/services/+', '/catalog/clustertemplates/web', '/catalog/plugins', '/operations/queues', '/operations/metrics',
  '/operations/tenants', '/operations/provisioners', '/operations/users', '/operations/audit',
  `/operations/actors?actor=/clusters/${cluster}`, '/profile', '/clusters/1/nowhere',
];

test('a script is uploaded, put to use, and taken out of it', async () => {
  const { page } = it;
  await go(page, `${base}/catalog/plugins`);
  const form = page.locator('form').last();
  await form.getByLabel('File').setInputFiles({ name: 'hello.sh', mimeType: 'text/x-sh', buffer: Buffer.from('#!/bin/sh\necho hello\n') });
  await form.getByRole('button', { name: 'Upload' }).click();
  const row = page.locator('tr', { hasText: 'scripts/hello.sh' });
  await row.getByRole('button', { name: 'Use', exact: true }).click();
  await page.getByRole('button', { name: 'Put to use' }).click();
  await row.getByText('in use', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Use no more' }).click();
  await page.getByRole('button', { name: 'Put to use' }).click();
  await row.getByRole('button', { name: 'Delete hello.sh v1' }).click();
  await row.waitFor({ state: 'detached' });
});

test('a catalog is written to a file, and a file is looked at before it replaces the catalog', async () => {
  const { page } = it;
  await go(page, `${base}/catalog/services`);
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
  const catalog = JSON.parse(readFileSync(await saved.path(), 'utf8')) as Record<string, { name: string }[]>;
  const services = catalog.services ?? [];
  const changed = { ...catalog, services: [...services, { ...services[0], name: 'copy' }] };
  await page.locator('input[type=file]').setInputFiles({ name: 'mine.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(changed)) });
  const dialog = page.getByRole('dialog');
  await dialog.getByText('+ copy').waitFor();
  expect(await dialog.locator('li').count()).toBe(1);
  await dialog.getByRole('button', { name: 'Import' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /^copy/ }).first().waitFor();
});

test('a template that is broken says so at its line, is mended by what is offered, and saved', async () => {
  const { page } = it;
  await go(page, `${base}/catalog/clustertemplates/web`);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const text = page.getByRole('textbox', { name: 'web' });
  const faults = page.getByRole('region', { name: 'What is wrong' });
  await faults.getByText('Nothing wrong is found.').waitFor();
  await text.locator('.cm-line', { hasText: 'hardwaretype: small' }).click();
  await page.keyboard.press('End');
  for (const _ of 'small') await page.keyboard.press('Backspace');
  await page.keyboard.type('5');
  await faults.getByRole('button', { name: /^Warning: Line \d+ defaults.hardwaretype “5”: expected is text/ }).waitFor();
  await page.locator('.cm-lint-marker-warning').waitFor();
  // The server has the last word, and its word is at the line, too.
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').filter({ hasText: 'defaults.hardwaretype' }).waitFor();
  await faults.getByRole('button', { name: /^Fault: Line \d+ .*expected a string/ }).click();
  await page.locator('.cm-lint-marker-error').waitFor();
  await page.keyboard.press('Control+ArrowRight');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('sm');
  await page.getByRole('option', { name: /^small/ }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await text.locator('.cm-line', { hasText: 'hardwaretype: small' }).waitFor();
  await faults.getByText('Nothing wrong is found.').waitFor();
  await page.keyboard.press('Tab');
  expect(await text.evaluate((element) => element.matches(':focus'))).toBe(false);
  await page.getByRole('button', { name: 'Save' }).click();
  await text.waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Version' }).filter({ hasText: 'Version 2 (newest)' }).waitFor();
});

for (const colours of ['light', 'dark'] as const) {
  test(`every page can be used by everybody, ${colours}`, async () => {
    const { page } = it;
    await page.emulateMedia({ colorScheme: colours, reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const path of PAGES()) {
      await go(page, base + path);
      await page.locator('main h1, main h2').first().waitFor();
      await page.waitForTimeout(300);
      found.push(...(await barriers(page, colours === 'dark' ? ['color-contrast'] : undefined)).map((barrier) => `${path}: ${barrier}`));
      if ((await beyondEdge(page)) > 0) found.push(`${path}: goes beyond the edge`);
    }
    expect(found).toEqual([]);
  });
}

test('nothing goes beyond the edge of a phone, in German', async () => {
  const { page } = it;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => localStorage.setItem('cooperage.language', 'de'));
  const found: string[] = [];
  for (const path of PAGES()) {
    await go(page, base + path);
    await page.locator('main h1, main h2').first().waitFor();
    await page.waitForTimeout(200);
    if ((await beyondEdge(page)) > 0) found.push(path);
    found.push(...(await barriers(page, ['button-name', 'link-name', 'label'])).map((barrier) => `${path}: ${barrier}`));
  }
  expect(found).toEqual([]);
  expect(await page.locator('html').getAttribute('lang')).toBe('de');
  await page.evaluate(() => localStorage.setItem('cooperage.language', 'en'));
  await page.setViewportSize({ width: 1400, height: 900 });
});

test('the book is one click away, and is searched without the internet', async () => {
  const { page } = it;
  await go(page, `${base}/clusters`);
  await page.getByRole('link', { name: 'Help' }).click();
  await page.waitForURL('**/docs');
  // A server may have been built without it, and says so.
  if ((await page.getByText('built without the book').count()) > 0) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const chapter of ['', '/concepts', '/settings', '/how-to/service', '/reference/commands']) {
      await go(page, `${base}/docs${chapter}`);
      expect(await barriers(page), `${chapter} ${colorScheme}`).toEqual([]);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await beyondEdge(page)).toBe(0);
  await page.getByRole('button', { name: 'Chapters' }).click();
  await page.getByRole('link', { name: 'Heal what is broken' }).click();
  await page.getByRole('heading', { level: 1, name: 'Heal what is broken' }).waitFor();
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.keyboard.press('/');
  await page.keyboard.type('lease extend');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/.*lease/);
});

test('a superadmin looks after another tenant, in one tab', async () => {
  const { page } = it;
  await go(page, `${base}/operations/tenants`);
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('dept');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.locator('td strong', { hasText: 'dept' }).waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Switch tenant' }).click();
  await page.getByLabel('Filter tenants').fill('dep');
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: /^dept/ }).click();
  await page.getByText('You look after the tenant dept').waitFor();
  await page.getByRole('heading', { name: 'No clusters yet' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  // Another tab is where it was; this one stays where it is, whatever is opened in it.
  const other = await page.context().newPage();
  await go(other, `${base}/clusters/${cluster}`);
  await other.getByRole('heading', { name: 'walk' }).waitFor();
  await other.close();
  await page.reload();
  await page.getByText('You look after the tenant dept').waitFor();
  await page.getByRole('button', { name: 'Back to your own' }).click();
  await page.getByRole('link', { name: 'walk' }).first().waitFor();
});

test('it goes when its name is typed', async () => {
  const { page } = it;
  await go(page, `${base}/clusters/${cluster}`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Cannot be undone').waitFor();
  const submit = dialog.getByRole('button', { name: 'Delete' });
  expect(await submit.isDisabled()).toBe(true);
  await dialog.getByLabel('Type walk to confirm').fill('walk');
  await submit.click();
  await page.locator('h1 + .badge', { hasText: 'deleted' }).waitFor({ timeout: 120_000 });
});

test('the browser had nothing to complain of', () => {
  expect(it.faults).toEqual([]);
});
