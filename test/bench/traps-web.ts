/**
 * What a trap costs beside 1,000 honest hosts: an endless host, and a domain with 10,000 host names. Rounds of at most 20 pages
 * a host, judged after each round as updatedb does; pages that are fetched, and honest ones that are lost. A plot of the
 * requests that each has taken by round, as docs/scheduling.md has it.
 *
 *     npx just bench test/bench/traps-web.ts
 */

import {seededRandom} from '../../lib/schedule/synthetic-web.ts';
import type {FamilyRow} from '../../lib/schema/families.ts';
import {simhash} from '../../lib/signature/simhash.ts';
import {familyKey} from '../../lib/traps/family.ts';
import {type FirstVisit, foldVisits} from '../../lib/traps/ledger.ts';
import {makeQuarantine} from '../../lib/traps/quarantine.ts';
import {hostOf} from '../../lib/url/host.ts';
import {lineChart} from '../support/plot.ts';
import {ownText} from '../support/trap-web.ts';

const rule = {minPages: 100, minNovel: 0.1, nearBits: 8, probeMs: 30 * 86_400_000}; // the defaults
const perHost = 20;
const random = seededRandom(1);
const honest = Array.from({length: 1000}, (_, i) => ({
  host: `site${i}.test`,
  // Zipf sizes between 20 and 1,500, of mean 70: shops, whose products are named in lists of 20
  size: Math.max(20, Math.min(1500, Math.round(15 / random()))),
}));

const empty = (host: string, i: number) =>
  `Home of ${host} About Contact. Nothing is listed here for number ${i}. This is all that there is in this place, open on weekdays. Previous and next. All rights reserved by the owners.`;

interface Page {
  readonly text: string;
  readonly links: readonly string[];
}

function pageOf(url: string): Page {
  const host = hostOf(url);
  const number = Number(/([0-9]+)\/?$/.exec(url)?.[1] ?? 0);
  if (host === 'endless.test')
    return {
      text: empty(host, number),
      links: Array.from({length: 12}, (_, k) => `http://${host}/day/${number + k + 1}`),
    };
  if (host.endsWith('.wild.test')) {
    const name = Number(host.slice(1, host.indexOf('.')));
    return {
      text: empty('wild', name % 7),
      links: Array.from({length: 12}, (_, k) => `http://h${(name * 12 + k + 1) % 10_000}.wild.test/`),
    };
  }
  const site = honest.find((one) => one.host === host)!;
  if (!url.includes('/product/')) {
    const lists = Math.ceil(site.size / 20);
    const items = Array.from(
      {length: Math.min(20, site.size - 20 * number)},
      (_, k) => `http://${host}/product/${20 * number + k}`,
    );
    return {
      text: ownText(url),
      links: [...items, ...(number + 1 < lists ? [`http://${host}/list?page=${number + 1}`] : [])],
    };
  }
  return {
    text: `Shop Basket Delivery in three days ${ownText(url, 20)}`,
    links: [`http://${host}/product/${(number * 7) % site.size}`],
  };
}

const known = new Map<string, string | null>();
let waiting: string[] = [];
const add = (url: string, from: string | null) => {
  if (known.has(url)) return;
  known.set(url, from);
  waiting.push(url);
};
for (const {host} of honest) add(`http://${host}/list?page=0`, null);
add('http://endless.test/day/0', null);
add('http://h0.wild.test/', null);

let families = new Map<string, FamilyRow>();
const fetched = new Map<string, number>();
const begin = process.cpuUsage();
/** Requests so far, at the end of each round. */
const taken = {endless: [0], wild: [0], honest: [0]};
let late = 0;
for (let round = 0; waiting.length > 0 && round < 200; round++) {
  const quarantine = makeQuarantine(
    [...families.values()].filter(({state}) => state === 'quarantined'),
    [],
    null,
  );
  const counts = new Map<string, number>();
  const visits: (FirstVisit & {readonly links: readonly string[]})[] = [];
  const rest: string[] = [];
  for (const url of waiting) {
    const host = hostOf(url);
    if (quarantine.closes(url) !== undefined) continue;
    const count = counts.get(host) ?? 0;
    if (count >= perHost) rest.push(url);
    else {
      counts.set(host, count + 1);
      const {text, links} = pageOf(url);
      visits.push({url, simhash: simhash(text), from: known.get(url) ?? null, links});
      const place = host.endsWith('.wild.test') ? 'wild.test' : host;
      fetched.set(place, (fetched.get(place) ?? 0) + 1);
      if (quarantine.places.has(host)) late++;
    }
  }
  const closedBefore = quarantine.places.size;
  families = new Map([
    ...families,
    ...foldVisits([...families.values()], visits, rule, round * 3_600_000).map(
      (row) => [familyKey(row), row] as const,
    ),
  ]);
  const after = makeQuarantine(
    [...families.values()].filter(({state}) => state === 'quarantined'),
    [],
    null,
  );
  waiting = rest;
  taken.endless.push(fetched.get('endless.test') ?? 0);
  taken.wild.push(fetched.get('wild.test') ?? 0);
  taken.honest.push(honest.reduce((sum, {host}) => sum + (fetched.get(host) ?? 0), 0) / honest.length);
  for (const {url, links} of visits)
    for (const link of links) if (after.closes(link) === undefined) add(link, url);
  if (after.places.size > closedBefore)
    process.stdout.write(`round ${round}: closed ${[...after.places].join(' ')}\n`);
}
const total = honest.reduce((sum, {host}) => sum + (fetched.get(host) ?? 0), 0);
const expected = honest.reduce((sum, {size}) => sum + size + Math.ceil(size / 20), 0);
const mean = total / honest.length;
for (const place of ['endless.test', 'wild.test'])
  process.stdout.write(
    `${place}: ${fetched.get(place)} pages, ${(fetched.get(place)! / mean).toFixed(2)} times the mean honest host\n`,
  );
process.stdout.write(
  `honest: ${total} of ${expected} pages, ${mean.toFixed(1)} a host; ${late} pages of closed places fetched afterwards; ${(process.cpuUsage(begin).user / 1e6).toFixed(1)} s of processor time\n`,
);
const shownRounds = 20;
console.log(
  lineChart({
    title: 'Requests so far, by round',
    xTitle: 'round',
    xRange: [0, shownRounds],
    yTitle: 'requests',
    yRange: [0, 200],
    decimals: 0,
    curves: [
      {name: 'endless host', values: taken.endless},
      {name: 'domain of endless hosts', values: taken.wild},
      {name: 'mean honest host', values: taken.honest},
    ].map(({name, values}) => ({
      name,
      values: Array.from({length: shownRounds + 1}, (_, round) => values[round] ?? values.at(-1)!),
    })),
  }),
);
