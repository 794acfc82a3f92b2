/** What a fetch holds: URLs, queues, hosts, robots.txt and counts; and the rows of URLs that are not asked for. */
import type {Config} from '../config/settings.ts';
import type {FetchlistRow} from '../schema/fetchlist.ts';
import type {Reason} from '../schema/reason.ts';
import {unaskedCapture} from './captures.ts';
import {type FetchHost, FetchHosts} from './hosts.ts';
import type {Outcome} from './outcome.ts';
import {FetchQueues} from './queues.ts';
import {RobotsDesk} from './robots-desk.ts';
import type {FetcherSettings} from './settings.ts';
import {placeLimits} from './shared.ts';
import {FetchTally} from './tally.ts';
import {type WorkItem, Worklist} from './worklist.ts';

export class FetchState {
  readonly settings: FetcherSettings;
  readonly config: Config;
  /** The clock of the fetch. */
  readonly now: () => number;
  readonly queues: FetchQueues;
  readonly hosts: FetchHosts;
  readonly worklist = new Worklist();
  readonly robots: RobotsDesk;
  readonly tally = new FetchTally();

  /** @param freed called when a place is free that other fetches of this process had taken */
  constructor(settings: FetcherSettings, now: () => number, freed: () => void) {
    const {config} = settings;
    this.settings = settings;
    this.config = config;
    this.now = now;
    const limits = {...placeLimits(config, settings.maxActive), maxPerHost: config.politeness.max_per_host};
    this.queues = new FetchQueues(limits, settings.shared?.places, freed);
    this.hosts = new FetchHosts(config.politeness, this.queues);
    this.robots = new RobotsDesk(config.robots, config.agent.name);
  }

  /**
   * Puts a URL of the fetchlist into its host's queue. A URL that is listed twice gets its row at once.
   * @param done it has its outcome, from before the fetch was taken up again
   */
  add(row: FetchlistRow, done = false): void {
    const twin = this.worklist.find(row.url_key);
    const index = this.worklist.add(row);
    const host = this.hosts.host(row.url_host_name, row.url_host_registered_domain, row.host_key);
    this.hosts.addDomain(row.url_host_registered_domain);
    if (done) this.worklist.markDone(index);
    else if (twin === undefined) this.queues.push(host.queue, index);
    else this.skip(host, index, 'hop_target', null);
  }

  /** The row `skipped` of a URL of the fetchlist; hops and robots.txt that are not asked for leave none. */
  skip(host: FetchHost, index: number, reason: Reason, detail: string | null): void {
    this.decide(host, index, this.worklist.get(index), {status: 'skipped', reason}, detail);
  }

  /** The row of a URL that is not asked for. */
  decide(host: FetchHost, index: number, item: WorkItem, outcome: Outcome, detail: string | null): void {
    const listed = this.worklist.isListed(index);
    this.worklist.forget(index);
    if (item.kind === 'robots' || item.kind === 'probe') return;
    if (item.kind === 'hop' && outcome.status === 'skipped') return;
    if (listed && !this.worklist.markDone(index)) return;
    const time = Math.round(this.now());
    const {segment, sink} = this.settings;
    sink.append(unaskedCapture({segment, item, host, outcome, detail, time}), null);
    this.tally.unasked(host, item.kind, outcome);
  }
}
