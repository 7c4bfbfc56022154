/** A server of its own, with workers that say at once, or after a while, that what they were given is done. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'node:http';

const PROVISIONER = 'scale';
const TENANT = 'superadmin';
/** Nobody but our workers carries anything out, and nobody looks after machines that are not there. */
const SETTINGS = ['workers.local=0', 'health.heal=off'];
const READY_WITHIN = 60_000;
/** A provisioner that is not heard of for a while loses its tasks. */
const HEARTBEAT = 5_000;

type Json = Record<string, unknown>;

interface Order {
  taskId?: string;
  taskName?: string;
  config?: { hostname?: string };
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

export class Installation {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });
  private stopping = false;
  private workers: Promise<void>[] = [];
  private beat: NodeJS.Timeout | undefined;
  done = 0;

  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
    readonly base: string,
    private readonly tasks: string,
  ) {}

  static async start(program: string): Promise<Installation> {
    const folder = mkdtempSync(join(tmpdir(), 'cooperage-scale-'));
    const [user, tasks] = [await freePort(), await freePort()];
    const settings = [`data_dir=${folder}`, `listen.user=127.0.0.1:${user}`, `listen.tasks=127.0.0.1:${tasks}`, ...SETTINGS];
    const child = spawn(program, ['serve', ...settings.flatMap((setting) => ['--set', setting])], { stdio: 'ignore' });
    // Whatever ends this process ends the server.
    process.once('exit', () => child.kill('SIGKILL'));
    const it = new Installation(folder, child, `http://127.0.0.1:${user}`, `http://127.0.0.1:${tasks}`);
    for (const begun = Date.now(); ; await pause(100)) {
      const ready = await fetch(`${it.base}/v2/ready`).catch(() => undefined);
      if (ready?.ok) return it;
      if (child.exitCode !== null || Date.now() - begun > READY_WITHIN) {
        await it.stop();
        throw new Error('the server does not start');
      }
    }
  }

  get token(): string {
    return readFileSync(join(this.folder, 'admin.token'), 'utf8').trim();
  }

  /** Asks the port for people. */
  async ask(method: string, path: string, body?: unknown): Promise<Json> {
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' };
    const answer = await fetch(this.base + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Json;
  }

  /** Puts there what clusters of the template `scale` are made of: nodes with so many tasks for services, one after the other. */
  async stock(services: number): Promise<void> {
    const names = Array.from({ length: services }, (_, number) => `scale-${number}`);
    const action = { type: 'shell', fields: { script: 'scale.sh' } };
    await this.ask('POST', '/v2/apply', [
      { kind: 'provider', name: 'scale', providertype: 'local', provisioner: {} },
      { kind: 'hardwaretype', name: 'scale', providermap: { scale: { flavor: '1cpu-512m' } } },
      { kind: 'imagetype', name: 'scale', providermap: { scale: { image: 'debian-12', sshuser: 'root' } } },
      ...names.map((name) => ({ kind: 'service', name, provisioner: { actions: { install: action, start: action } }, dependencies: { provides: [], conflicts: [] } })),
      {
        kind: 'clustertemplate',
        name: 'scale',
        defaults: { services: names, provider: 'scale', hardwaretype: 'scale', imagetype: 'scale' },
        compatibility: { hardwaretypes: ['scale'], imagetypes: ['scale'], services: names },
        constraints: { layout: { mustcoexist: [names], cantcoexist: [] } },
        administration: { health: { heal: 'off' } },
      },
    ]);
    const provisioner = `/v2/provisioners/${PROVISIONER}`;
    await this.post(provisioner, { id: PROVISIONER, host: '127.0.0.1', port: 9, capacityTotal: 1_000 }, 'PUT');
    // One that is not heard costs nothing but the next one.
    this.beat = setInterval(() => void this.post(`${provisioner}/heartbeat`, { usage: {} }).catch(() => undefined), HEARTBEAT);
  }

  async create(name: string, nodes: number): Promise<string> {
    return String((await this.ask('POST', '/v2/clusters', { name, clusterTemplate: 'scale', numMachines: nodes }))['id']);
  }

  /** Lets so many workers work, each of which needs so many ms for a task. */
  work(workers: number, ms: number): void {
    this.stopping = false;
    this.workers = Array.from({ length: workers }, (_, number) => this.one(`w${number}`, ms));
  }

  async rest(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.workers);
  }

  async stop(): Promise<void> {
    clearInterval(this.beat);
    await this.rest();
    this.agent.destroy();
    const ended = new Promise((done) => this.process.once('exit', done));
    if (this.process.exitCode === null && this.process.kill('SIGTERM')) await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async one(workerId: string, ms: number): Promise<void> {
    const me = { workerId, provisionerId: PROVISIONER, tenantId: TENANT };
    while (!this.stopping) {
      const order = (await this.post('/v2/tasks/take', me)) as Order;
      if (!order.taskId) {
        await pause(50);
        continue;
      }
      if (ms > 0) await pause(ms);
      const isMachine = order.taskName === 'CREATE' || order.taskName === 'CONFIRM';
      const machine = isMachine
        ? { result: { ssh_host_keys: { ed25519: 'AAAA' } }, ipaddresses: { access_v4: '127.0.0.1', bind_v4: '127.0.0.1' }, hostname: order.config?.hostname }
        : {};
      await this.post('/v2/tasks/finish', { ...me, ...machine, taskId: order.taskId, status: 0, stdout: '', stderr: '' });
      this.done += 1;
    }
  }

  /** Asks the port for provisioners, on connections that stay. */
  private post(path: string, body: unknown, method = 'POST'): Promise<Json> {
    return new Promise((answered, failed) => {
      const asked = request(this.tasks + path, { method, agent: this.agent, headers: { 'Content-Type': 'application/json' } }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', failed);
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if ((answer.statusCode ?? 500) >= 400) failed(new Error(`${method} ${path}: ${answer.statusCode} ${text}`));
          else answered((text === '' ? {} : JSON.parse(text)) as Json);
        });
      });
      asked.on('error', failed);
      asked.end(JSON.stringify(body));
    });
  }
}
