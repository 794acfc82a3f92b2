import type {FetchHosts} from './hosts.ts';
import type {FetcherSettings, StopReason} from './settings.ts';

const rulesMs = 2500; // with the loop's own tick, a rule by hand holds within five seconds
const diskCheckMs = 1000; // chosen: a disk does not fill its last gigabyte faster

/** What a fetch looks at now and then while it runs: the disk, and rules by hand. */
export class Upkeep {
  readonly #settings: Pick<FetcherSettings, 'config' | 'effects' | 'changedRules' | 'freeBytes'>;
  readonly #hosts: FetchHosts;
  #nextDiskCheck = 0;
  #nextRules = 0;

  constructor(settings: FetcherSettings, hosts: FetchHosts) {
    this.#settings = settings;
    this.#hosts = hosts;
  }

  /** Looks at what is due. @returns why the fetch has to stop, or null */
  async look(now: number): Promise<StopReason | null> {
    if (now >= this.#nextRules) await this.#readRules(now);
    return now >= this.#nextDiskCheck && (await this.#isDiskLow(now)) ? 'disk' : null;
  }

  async #readRules(now: number): Promise<void> {
    this.#nextRules = now + rulesMs;
    const rules = await this.#settings.changedRules?.();
    if (rules) this.#hosts.applyRules(rules);
  }

  async #isDiskLow(now: number): Promise<boolean> {
    this.#nextDiskCheck = now + diskCheckMs;
    const {freeBytes, effects, config} = this.#settings;
    const free = await freeBytes?.();
    if (free === undefined || free >= config.storage.min_free) return false;
    effects.log('warn', 'disk_low', {free_bytes: free, min_free_bytes: config.storage.min_free});
    return true;
  }
}
