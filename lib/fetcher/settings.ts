import type {Config} from '../config/settings.ts';
import type {Counters} from '../counters.ts';
import type {Effects, Progress} from '../effects.ts';
import type {HttpClient} from '../http/exchange.ts';
import type {Capture} from '../schema/fetch.ts';
import type {Reason} from '../schema/reason.ts';
import type {Scope, Stay} from '../scope/scope.ts';
import type {UrlPolicy} from '../url/normalize.ts';
import type {HostReason} from './host-reasons.ts';
import type {HostRule} from './host-rules.ts';
import type {SharedLimits} from './shared.ts';

/** Where rows go. They are kept when `append` returns, and safe within a second. */
export interface CaptureSink {
  append(capture: Capture, payload: Uint8Array | null): void;
  /** Set when the sink wants a pause: resolves when it has caught up. */
  readonly pressure?: Promise<void> | null;
}

export interface FetcherSettings {
  readonly segment: string;
  readonly config: Config;
  readonly client: HttpClient;
  readonly sink: CaptureSink;
  readonly scope: Pick<Scope, 'check' | 'checkType'>;
  readonly urlPolicy: UrlPolicy;
  readonly effects: Pick<Effects, 'now' | 'monotonic' | 'sleep' | 'log' | 'signal'>;
  readonly leaseOk: () => boolean;
  readonly progress: (point: Progress) => void;
  /** Most requests at once. */
  readonly maxActive: number;
  /** Limits that this fetch holds together with others of this process; its own if absent. */
  readonly shared?: SharedLimits;
  /** Longest time of this fetch in ms; null without a limit. */
  readonly windowMs: number | null;
  /** Nothing more is asked: all that is left ends as `closed`. */
  readonly closed: boolean;
  /** How far links may lead from a seed, where its seed line says so. */
  readonly seedScopes?: ReadonlyMap<string, Stay>;
  /** URLs that the crawl knows and that are not due: where a redirect leads to one, it is not asked again. */
  readonly notDue?: KnownTargets;
  /** Rules by hand, if they have changed since it was last asked; asked every five seconds. */
  readonly changedRules?: () => Promise<readonly HostRule[] | undefined>;
  /** Free bytes on the disk; asked at most once a second. */
  readonly freeBytes?: () => Promise<number>;
}

/** Keys of URLs, read when the first redirect asks for them. */
export interface KnownTargets {
  /** Resolves when `has` can tell. The same promise each time. */
  load(): Promise<void>;
  /** False while it is not loaded. */
  has(urlKey: bigint): boolean;
}

/** Why a fetch ended before its time, to go on later. */
export type StopReason = 'signal' | 'disk';

export interface FetchEnd {
  /** Null: every URL has its outcome. */
  readonly stopped: StopReason | null;
  /** A request was sent whose answer nobody waited for: when it reached its host no row says. */
  readonly interrupted: boolean;
  readonly counters: Counters;
  readonly reasons: Partial<Record<Reason, number>>;
  /** The hosts at which most URLs ended with a reason. */
  readonly hosts: readonly HostReason[];
}
