import type {CrawlStatus} from '../jobs/status.ts';
import {nextStep, stageOf} from './next-step.ts';
import {type Output, tableText} from './output.ts';
import {bytes, count, counted, span} from './words.ts';

const shownSegments = 10; // chosen: with the rest it fits a screen of 40 lines

/** The screen of `crawl status`. */
export function statusText(
  status: CrawlStatus,
  {all, now, colours}: {readonly all: boolean; readonly now: number; readonly colours: Output['colours']},
): string {
  const {manifest, segments, locks, runs} = status;
  const age = (time: string | Date) => `${span(Math.max(0, now - new Date(time).getTime()))} ago`;
  const lines = [`${colours.bold('crawl')}     ${status.dir}`];
  lines.push(
    manifest.number === 0
      ? 'manifest  none yet: nothing was done in this crawl'
      : `manifest  ${manifest.number}, by ${manifest.job}, ${age(manifest.created_time)}; ${bytes(status.bytes)} on disk`,
  );
  const summary = summaryText(manifest.summary);
  if (summary !== '') lines.push(`crawldb   ${summary}`);
  if (status.hosts.asked > 0) lines.push(`hosts     ${hostsText(status.hosts, now)}`);

  const open = segments.filter(({applied}) => applied === undefined);
  const newest = segments.slice(-shownSegments);
  const shown = all
    ? segments
    : segments.filter((one) => newest.includes(one) || open.slice(0, shownSegments).includes(one));
  lines.push(
    '',
    colours.bold(
      `${counted(segments.length, 'segment')}${segments.length === 0 ? '' : `, ${open.length} open`}`,
    ),
  );
  if (shown.length > 0)
    lines.push(
      tableText(
        colours,
        ['segment', 'state', 'urls', 'hosts', 'captures', 'size', 'parse', 'generated'],
        shown.map((segment) => ({
          segment: segment.id,
          state: stageOf(segment),
          urls: segment.urls,
          hosts: segment.hosts,
          captures: segment.captures,
          size: bytes(segment.bytes),
          parse: segment.current ?? '',
          generated: age(segment.generated_time),
        })),
      ).trimEnd(),
    );
  if (shown.length < segments.length)
    lines.push(`… ${counted(segments.length - shown.length, 'older one')}: --all`);

  if (locks.length > 0) {
    lines.push('', colours.bold('running'));
    for (const lock of locks)
      lines.push(
        `${lock.command} holds ${lock.resource} (pid ${lock.pid} on ${lock.host}, since ${age(lock.taken_time).replace(/ ago$/, '')})`,
      );
  }
  if (runs.length > 0) {
    lines.push('', colours.bold('last runs'));
    for (const run of runs)
      lines.push(
        `${age(run.finished_time)}  ${run.job}${run.segment === null ? '' : ` ${run.segment}`}, ${span(run.duration_ms)}`,
      );
  }
  const next = nextStep(manifest);
  const busy =
    next.command === 'crawl fetch' ? locks.find(({resource}) => resource === 'fetching') : undefined;
  lines.push(
    '',
    busy === undefined
      ? `next: ${colours.bold(next.command)} (${next.why})`
      : `next: wait for ${busy.command} (pid ${busy.pid})`,
  );
  return `${lines.join('\n')}\n`;
}

/** `13 asked; 3 rest, the longest for 24 h: 2 by retry_after, 1 by backoff`. */
function hostsText({asked, resting, until}: CrawlStatus['hosts'], now: number): string {
  const all = Object.values(resting).reduce((sum, n) => sum + n, 0);
  if (until === null) return `${count(asked)} asked, all may be asked again`;
  return `${count(asked)} asked; ${count(all)} rest, the longest for ${span(until.getTime() - now)}: ${Object.entries(
    resting,
  )
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .map(([term, n]) => `${count(n)} by ${term}`)
    .join(', ')}`;
}

/** `2 URLs of 1 host: 1 unfetched, 1 fetched`; further counts, by name, behind. */
function summaryText({urls, hosts, saved_bytes: saved, ...others}: Readonly<Record<string, number>>): string {
  if (urls === undefined) return '';
  const order = ['unfetched', 'fetched', 'redirects', 'duplicates', 'gone', 'pages_fetched'];
  const place = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  const parts = Object.entries(others)
    .filter(([, n]) => n > 0)
    .sort(([a], [b]) => place(a) - place(b) || (a < b ? -1 : 1))
    .map(([name, n]) =>
      name === 'pages_fetched'
        ? `${counted(n, 'page')} fetched ever`
        : `${count(n)} ${name.replaceAll('_', ' ')}`,
    );
  return `${counted(urls, 'URL')} of ${counted(hosts ?? 0, 'host')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}${saved ? `; ${bytes(saved)} received and not stored again` : ''}`;
}
