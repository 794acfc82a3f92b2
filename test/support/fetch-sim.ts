/**
 * A web and a clock of their own, for the fetch loop: days pass within a second, and every request is noted with
 * its time. Only what an HttpClient would do is faked.
 */
import {setMaxListeners} from 'node:events';
import {loadConfig} from '../../lib/config/load.ts';
import type {Config} from '../../lib/config/settings.ts';
import {type CaptureSink, Fetcher, type FetcherSettings} from '../../lib/fetcher/fetcher.ts';
import {Replay} from '../../lib/fetcher/replay.ts';
import type {Exchange, HttpClient, HttpRequest} from '../../lib/http/exchange.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {FetchlistRow} from '../../lib/schema/fetchlist.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import type {Truncation} from '../../lib/schema/status.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {identify} from '../../lib/url/keys.ts';
import {urlPolicy} from '../../lib/url/normalize.ts';

/** Configuration with settings given as on a command line, `configOf({'politeness.min_delay': '5s'})`; rests without jitter. */
export function configOf(settings: Readonly<Record<string, string>> = {}): Config {
  const flags = Object.entries({'politeness.jitter': '0', ...settings}).map(([key, text]) => ({
    flag: '--set',
    key,
    texts: [text],
  }));
  return loadConfig({env: {}, flags}).config;
}

/** A rule by hand that says nothing. */
export const noRule = {
  blocked: false,
  max_connections: null,
  min_delay_ms: null,
  hours: null,
  max_rate: null,
  max_bandwidth: null,
  unblocked: null,
};

/** Time that moves only when everybody sleeps. */
export class VirtualClock {
  time = 1_800_000_000_000;
  readonly #sleepers: {at: number; order: number; wake: () => void}[] = [];
  #order = 0;

  readonly now = () => this.time;

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = () => {
        this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
        reject(signal?.reason);
      };
      const sleeper = {
        at: this.time + Math.max(0, ms),
        order: this.#order++,
        wake: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', abort, {once: true});
    });
  }

  /** Lets time pass until the work is done. */
  async run<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const settled = work.finally(() => {
      done = true;
    });
    settled.catch(() => undefined);
    for (let idle = 0; !done; ) {
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      if (done) break;
      this.#sleepers.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = this.#sleepers.shift();
      if (!next) {
        if (++idle > 100) throw new Error('everybody waits, and nobody sleeps');
        continue;
      }
      idle = 0;
      this.time = Math.max(this.time, next.at);
      next.wake();
    }
    return settled;
  }
}

export interface SimAnswer {
  readonly status?: number;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly reason?: Reason;
  readonly truncated?: Truncation;
  /** Time of the answer; 10 ms if absent. */
  readonly tookMs?: number;
}

export interface SimRequest {
  readonly url: string;
  readonly start: number;
  end: number;
  readonly headers: readonly (readonly [string, string])[];
}

export type SimWeb = (url: string, times: number, start: number) => SimAnswer | undefined;

export interface Sim {
  readonly config?: Config;
  /** Undefined: 404, for robots.txt too. */
  readonly web: SimWeb;
  readonly list: readonly (string | Partial<FetchlistRow>)[];
  readonly addresses?: (url: string) => readonly string[];
  /** The same, taking time. */
  readonly lookUp?: (url: string) => Promise<readonly string[]>;
  readonly settings?: Partial<FetcherSettings>;
  readonly onRequest?: (url: string, maxBody: number) => void;
  /** Told of each piece of a body that is read at a pace. */
  readonly onPiece?: (bytes: number) => void;
  readonly clock?: VirtualClock;
  /** Rows that a journal holds of an earlier run, with payloads by capture id. */
  readonly resume?: {
    readonly rows: readonly Capture[];
    readonly payloads: ReadonlyMap<string, Uint8Array>;
    readonly proven: boolean;
  };
  /** Called before the run, with everything loaded. */
  readonly prepare?: (fetcher: Fetcher, clock: VirtualClock) => void;
}

export interface SimResult {
  readonly rows: Capture[];
  readonly payloads: Map<string, Uint8Array>;
  readonly requests: SimRequest[];
  readonly end: Awaited<ReturnType<Fetcher['run']>>;
  readonly fetcher: Fetcher;
  readonly durationMs: number;
  /** `page success - 200` and so on, by URL; kinds other than page only if asked for. */
  outcomes(kind?: Capture['kind']): Record<string, string>;
  /** Requests of a host in order of time. */
  of(host: string): SimRequest[];
}

const segment = '20270115080000';

export function listRow(given: string | Partial<FetchlistRow>, rank: number): FetchlistRow {
  const row = typeof given === 'string' ? {url: given} : given;
  return {
    segment,
    partition: 0,
    rank,
    ...identify(row.url!),
    kind: 'page',
    selected_as: 'new',
    score: 1,
    depth: 0,
    seed: null,
    etag: null,
    last_modified: null,
    content_digest: null,
    content_segment: null,
    ...row,
  };
}

export async function simulate(sim: Sim): Promise<SimResult> {
  const clock = sim.clock ?? new VirtualClock();
  const config = sim.config ?? configOf();
  const requests: SimRequest[] = [];
  const rows: Capture[] = [];
  const payloads = new Map<string, Uint8Array>();
  const client = new SimClient(sim, clock, requests);
  const sink: CaptureSink = {
    append(row, payload) {
      rows.push(row);
      if (payload) payloads.set(row.capture_id, payload);
    },
  };
  const fetcher = new Fetcher({
    segment,
    config,
    client,
    sink,
    scope: makeScope(config.scope, config.url, config.links, []),
    urlPolicy: urlPolicy(config.url),
    effects: {
      now: clock.now,
      monotonic: () => clock.time - 1_700_000_000_000,
      sleep: (ms, signal) => clock.sleep(ms, signal),
      log: () => undefined,
      signal: new AbortController().signal,
    },
    leaseOk: () => true,
    progress: () => undefined,
    maxActive: config.fetch.max_active,
    windowMs: null,
    closed: false,
    ...sim.settings,
  });
  const done = new Set(
    sim.resume?.rows.filter(({kind}) => kind === 'page' || kind === 'sitemap').map(({url}) => url),
  );
  for (const [index, given] of sim.list.entries()) {
    const row = listRow(given, index + 1);
    fetcher.work.add(row, done.has(row.url));
  }
  if (sim.resume) {
    const replay = new Replay(fetcher.work, config);
    for (const row of sim.resume.rows)
      replay.take(row, sim.resume.payloads.get(row.capture_id) ?? null, fetcher.now());
    const {proven} = sim.resume;
    replay.finish(proven, fetcher.now());
  }
  sim.prepare?.(fetcher, clock);
  const begin = clock.time;
  const end = await clock.run(fetcher.run());
  return {
    rows,
    payloads,
    requests,
    end,
    fetcher,
    durationMs: clock.time - begin,
    outcomes: (kind = 'page') =>
      Object.fromEntries(
        rows
          .filter((row) => row.kind === kind)
          .map((row) => [row.url, `${row.status} ${row.reason ?? '-'} ${row.fetch_status ?? '-'}`]),
      ),
    of: (host) => requests.filter(({url}) => new URL(url).hostname === host),
  };
}

const pieceBytes = 16_384;

class SimClient implements HttpClient {
  readonly #sim: Sim;
  readonly #clock: VirtualClock;
  readonly #requests: SimRequest[];
  readonly #times = new Map<string, number>();
  readonly #closed = new AbortController();

  constructor(sim: Sim, clock: VirtualClock, requests: SimRequest[]) {
    this.#sim = sim;
    this.#clock = clock;
    this.#requests = requests;
    setMaxListeners(0, this.#closed.signal);
  }

  async exchange(request: HttpRequest): Promise<Exchange> {
    const times = this.#times.get(request.url) ?? 0;
    this.#times.set(request.url, times + 1);
    const start = this.#clock.time;
    const noted: SimRequest = {url: request.url, start, end: Number.NaN, headers: request.headers};
    this.#requests.push(noted);
    this.#sim.onRequest?.(request.url, request.maxBody);
    const answer = this.#sim.web(request.url, times, start) ?? {status: 404, body: 'not here'};
    let reason = answer.reason ?? null;
    try {
      await this.#clock.sleep(answer.tookMs ?? 10, this.#closed.signal);
    } catch {
      reason = 'interrupted';
    }
    noted.end = this.#clock.time;
    const head =
      answer.status === undefined || reason === 'interrupted'
        ? null
        : {status: answer.status, statusText: '', headers: answer.headers ?? []};
    const firstByte = head === null ? null : this.#clock.time - start;
    const wanted = head === null || request.wantBody?.(head) !== false;
    const body = head === null ? null : Buffer.from(wanted ? (answer.body ?? '') : '');
    const paced = await this.#readAt(request.pace, body?.length ?? 0);
    noted.end = this.#clock.time;
    const onTheWay = reason !== null && /^(dns|connect|tls|address|own)/.test(reason);
    return {
      reason,
      detail: reason,
      head,
      requestHeader: onTheWay ? null : Buffer.from(`GET ${request.url}\r\n\r\n`),
      responseHeader: null,
      body,
      truncated: answer.truncated ?? null,
      sha1: body && `sha1 of ${body.length}`,
      sha256: body && `sha256 of ${body.length}`,
      connection: null,
      timings: {dns: null, connect: null, firstByte, total: this.#clock.time - start, paced},
    };
  }

  /** Reads the body in pieces as a socket gives them, at the pace that is asked for. */
  async #readAt(pace: HttpRequest['pace'], length: number): Promise<number> {
    let paced = 0;
    for (let at = 0; pace && at < length; at += pieceBytes) {
      const bytes = Math.min(pieceBytes, length - at);
      this.#sim.onPiece?.(bytes);
      const rest = pace(bytes);
      if (rest < 1) continue;
      paced += rest;
      await this.#clock.sleep(rest, this.#closed.signal).catch(() => undefined);
    }
    return paced;
  }

  async addresses(url: string): Promise<readonly string[]> {
    return (
      (await this.#sim.lookUp?.(url)) ??
      this.#sim.addresses?.(url) ?? [`10.0.0.${new URL(url).hostname.length}`]
    );
  }
  release(): void {}
  async close(): Promise<void> {
    this.#closed.abort(new Error('closed'));
  }
}
