import type {Config} from '../../lib/config/settings.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import {isStoredScore, weightsOf} from '../../lib/score/score.ts';
import {fetchOrders, type HostPolicy, type SelectionRules} from '../../lib/selection/selection.ts';
import {shareProblem, sharesOf} from '../../lib/selection/shares.ts';

const dayMs = 86_400_000;
/** Chosen: ten years; further ahead is a mistake. */
const maxAddDays = 3650;

/** Options of a selection, as generate and explain have them. */
export const selectionOptions = {
  topN: {kind: 'count', min: 1, doc: 'Most URLs in a fetchlist; generate.top_n if absent.'},
  maxPerHost: {kind: 'count', min: 1, doc: 'Most URLs of one host; generate.max_per_host if absent.'},
  maxPerDomain: {
    kind: 'count',
    min: 1,
    doc: 'Most URLs of one registered domain; generate.max_per_domain if absent.',
  },
  maxPerSeed: {
    kind: 'count',
    min: 1,
    doc: 'Most URLs reached from one seed; generate.max_per_seed if absent.',
  },
  order: {
    kind: 'choice',
    values: fetchOrders,
    doc: 'Order of the URLs of a host: by links from the seed, by score, or the deepest first; generate.order if absent.',
  },
  refetchShare: {
    kind: 'number',
    min: 0,
    max: 1,
    doc: 'Share of the list kept for pages fetched before, 0 to 1; generate.refetch_share if absent.',
  },
  share: {
    kind: 'map',
    default: {},
    doc: 'Weight of a seed group or tag, as news=3; `*` is all others, 1 if absent. Added to generate.shares.',
  },
  where: {
    kind: 'text',
    doc: 'SQL condition over the columns of crawldb that a URL must meet; host.NAME is a column of hostdb.',
  },
  addDays: {
    kind: 'number',
    default: 0,
    min: 0,
    max: maxAddDays,
    doc: 'Take what is due in so many days, too.',
  },
  force: {kind: 'flag', default: false, doc: 'Take URLs whose time has not come, too; --where says which.'},
  window: {
    kind: 'duration',
    doc: 'Length of the coming fetch: a host gets as many URLs as fit; fetch.window if absent.',
  },
} as const satisfies OptionDeclarations;

/** The rules that options and configuration give. Throws USAGE where they contradict each other. */
export function selectionRules(
  options: OptionValues<typeof selectionOptions>,
  config: Pick<Config, 'generate' | 'fetch' | 'schedule' | 'score'>,
  now: number,
): SelectionRules {
  const {generate, fetch, schedule, score} = config;
  const windowMs = options.window ?? fetch.window ?? 0;
  const rules: SelectionRules = {
    topN: withinRate(options.topN ?? generate.top_n, fetch.max_rate, windowMs),
    maxPerHost: options.maxPerHost ?? generate.max_per_host,
    maxPerDomain: options.maxPerDomain ?? generate.max_per_domain ?? null,
    maxPerSeed: options.maxPerSeed ?? generate.max_per_seed ?? null,
    order: options.order ?? generate.order,
    byLateness: schedule.kind === 'change_rate' && isStoredScore(weightsOf(score.weights)),
    refetchShare: options.refetchShare ?? generate.refetch_share,
    shares: {...sharesOf(generate.shares), ...typedShares(options.share)},
    windowMs,
    where: options.where === undefined || options.where.trim() === '' ? null : options.where,
    force: options.force,
    due: now + options.addDays * dayMs,
  };
  checkCaps(options, rules);
  return rules;
}

function typedShares(texts: Readonly<Record<string, string>>): Readonly<Record<string, number>> {
  for (const [name, text] of Object.entries(texts)) {
    const problem = shareProblem(name, text);
    if (problem !== undefined)
      throw new CrawlError('USAGE', `--share: ${problem}`, {
        hint: 'A group that is to get nothing is left out by --where.',
      });
  }
  return sharesOf(texts);
}

/** No more than fetch.max_rate lets through in the window. */
function withinRate(topN: number, rate: number | undefined, windowMs: number): number {
  if (rate === undefined || windowMs === 0) return topN;
  return Math.max(1, Math.min(topN, Math.floor((rate * windowMs) / 1000)));
}

/** A cap that another one makes meaningless was not meant; only those that were typed are looked at. */
function checkCaps(options: OptionValues<typeof selectionOptions>, rules: SelectionRules): void {
  const {maxPerHost, maxPerDomain} = rules;
  if (options.maxPerHost !== undefined && maxPerDomain !== null && maxPerHost > maxPerDomain)
    throw new CrawlError(
      'USAGE',
      `--max-per-host ${maxPerHost} is more than the cap of its domain, ${maxPerDomain}`,
      {hint: 'A host is part of its domain: lower the one, or raise --max-per-domain.'},
    );
  if (options.topN !== undefined && options.maxPerHost !== undefined && options.maxPerHost > options.topN)
    throw new CrawlError(
      'USAGE',
      `--max-per-host ${options.maxPerHost} is more than --top-n ${options.topN}`,
      {hint: 'Leave --max-per-host away where one host may fill the list.'},
    );
}

export function hostPolicy({politeness, budget}: Pick<Config, 'politeness' | 'budget'>): HostPolicy {
  return {
    minDelayMs: politeness.min_delay,
    maxCrawlDelayMs: politeness.max_crawl_delay,
    latencyFactor: politeness.latency_factor,
    maxLatencyMs: politeness.max_latency_delay,
    yield: budget.yield,
    budgets: {
      host: {
        pages: budget.max_pages_per_host ?? -1,
        bytes: budget.max_bytes_per_host ?? -1,
        novel: budget.max_novel_bytes_per_host ?? -1,
      },
      domain: {
        pages: budget.max_pages_per_domain ?? -1,
        bytes: budget.max_bytes_per_domain ?? -1,
        novel: budget.max_novel_bytes_per_domain ?? -1,
      },
      seed: {
        pages: budget.max_pages_per_seed ?? -1,
        bytes: budget.max_bytes_per_seed ?? -1,
        novel: budget.max_novel_bytes_per_seed ?? -1,
      },
    },
  };
}
