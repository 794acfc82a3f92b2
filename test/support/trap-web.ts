import {createHash} from 'node:crypto';
import {seededRandom} from '../../lib/schedule/synthetic-web.ts';
import {page as plainPage, type SmallPage, type SmallWeb} from './small-web.ts';

/**
 * A web of traps beside honest sites. Each trap is a program that answers at endless URLs with nothing new, and links
 * from each to the next ones; the names are those of vectors/traps.json.
 */
export interface TrapSite {
  readonly id: string;
  readonly host: string;
  /** URL number `i` of the trap. */
  member(i: number): string;
}

const hex = (i: number, length: number) => createHash('sha256').update(`${i}`).digest('hex').slice(0, length);
const colours = ['red', 'blue', 'green', 'black', 'white', 'brown'];
const topics = [
  'harbour',
  'orchard',
  'railway',
  'library',
  'theatre',
  'garden',
  'bridge',
  'market',
  'museum',
  'station',
];
const subset = (i: number, of: readonly string[]) => of.filter((_, bit) => ((i >> bit) & 1) === 1);

/** Path and query of member `i`. */
const programs: Readonly<Record<string, (i: number) => string>> = {
  'calendar-query': (i) => `/calendar?year=${2026 + Math.floor(i / 12)}&month=${1 + (i % 12)}&day=1`,
  'calendar-path': (i) => `/events/${2026 + Math.floor(i / 12)}/${String(1 + (i % 12)).padStart(2, '0')}/`,
  'statistics-year': (i) => `/index.php?journal=j&op=statistics&page=about&statisticsYear=${2015 + i}`,
  'session-path': (i) => `/s/${hex(i, 32)}/item`,
  'relative-growth': (i) => `${'/infra/www'.repeat(i + 1)}/common/`,
  'mixed-repeat': (i) => `/en${'/about/en/contact/en'.repeat(i + 1)}/`,
  'counter-path': (i) => `/deep${'/1'.repeat(i + 1)}/`,
  'facets-query': (i) =>
    `/shoes?${[...subset(i + 1, colours).map((name) => `color=${name}`), `size=${36 + (i % 12)}`, `brand=${topics[i % 7]}`].join('&')}`,
  'sort-and-view': (i) => `/list?sort=${topics[i % 5]}&dir=${i % 2 ? 'asc' : 'desc'}&limit=${i + 1}`,
  'search-results': (i) => `/search?q=${subset(i + 1, topics).join('+')}&related=${topics[i % 10]}`,
  'tag-combinations': (i) => `/tag/${subset(i + 1, topics).join('+')}+x/`,
  'wiki-actions': (i) => `/w/index.php?title=Main&diff=${i + 1}&oldid=${i}`,
  'forge-history': (i) => `/r/blame/${hex(i, 40)}/src/a.c`,
  'reply-and-share': (i) => `/post/5?replytocom=${i}`,
  'return-url': (i) => `/login?returnUrl=%2Fpage%2F${i}`,
  'random-token': (i) => `/p?nonce=${hex(i, 16)}&ts=${1_700_000_000_000 + i}`,
};

export const trapSites: readonly TrapSite[] = [
  ...Object.entries(programs).map(([id, path]) => ({
    id,
    host: `${id}.test`,
    member: (i: number) => `http://${id}.test${path(i)}`,
  })),
  {id: 'wildcard-hosts', host: 'wildcard-hosts.test', member: (i) => `http://h${i}.wildcard-hosts.test/`},
];

const page = (body: string, links: readonly string[] = []): SmallPage =>
  plainPage(body, links, {fingerprint: true});

/** Links of a trap's page: the next members. */
const ahead = 12;

/** Words that are a page's own. */
export function ownText(url: string, words = 40): string {
  const random = seededRandom(
    Number.parseInt(createHash('sha256').update(url).digest('hex').slice(0, 8), 16),
  );
  return Array.from({length: words}, () => Math.floor(random() * 60_000).toString(36)).join(' ');
}

const emptyText = (host: string, i: number) =>
  `Home of ${host} About Contact Imprint. Nothing is listed here for number ${i}. Previous and next. All rights reserved by the owners of this site.`;

/** @param lookalikes pages to keep, by the id of the trap that they look like; on the host of that trap */
export function trapWeb(lookalikes: Readonly<Record<string, readonly string[]>>): SmallWeb {
  const pages = new Map<string, SmallPage>();
  const members = new Map<string, {readonly site: TrapSite; readonly i: number}>();
  for (const site of trapSites) {
    for (let i = 0; i < 3000; i++) members.set(site.member(i), {site, i});
    const honest = lookalikes[site.id] ?? [];
    for (const url of honest) pages.set(url, page(ownText(url)));
    pages.set(`http://${site.host}/`, page(ownText(site.host), [...honest, site.member(0), site.member(1)]));
  }
  return (url) => {
    const honest = pages.get(url);
    if (honest !== undefined) return honest;
    const member = members.get(url);
    if (member === undefined) return {status: 'gone', reason: 'http_404', code: 404};
    const {site, i} = member;
    const links = Array.from({length: ahead}, (_, step) => site.member(i + step + 1));
    return page(emptyText(site.host, i), links);
  };
}

/** An archive by date, a page a day, with months that link to the next; and a shop that lists its products by pages. */
export function honestWeb(
  days: number,
  products: number,
): {readonly web: SmallWeb; readonly urls: readonly string[]} {
  const pages = new Map<string, SmallPage>();
  const day = (i: number) =>
    `http://archive.test/${2020 + Math.floor(i / 336)}/${1 + (Math.floor(i / 28) % 12)}/${1 + (i % 28)}/`;
  const months: string[] = [];
  for (let first = 0; first < days; first += 28) {
    const month = day(first).replace(/[0-9]+\/$/, '');
    const own = Array.from({length: Math.min(28, days - first)}, (_, i) => day(first + i));
    for (const url of own) pages.set(url, page(ownText(url), [...own, month]));
    pages.set(month, page(ownText(month), own));
    months.push(month);
  }
  pages.set('http://archive.test/', page(ownText('archive'), months));
  const product = (i: number) => `http://shop.test/product/${i}`;
  const list = (n: number) => `http://shop.test/list?page=${n}`;
  const lists = Math.ceil(products / 20);
  for (let i = 0; i < products; i++)
    pages.set(
      product(i),
      page(`Shop Basket Delivery in three days ${ownText(product(i), 20)}`, [product((i * 7) % products)]),
    );
  for (let n = 0; n < lists; n++) {
    const items = Array.from({length: Math.min(20, products - 20 * n)}, (_, i) => 20 * n + i);
    const text = `Shop Basket Delivery in three days ${items.map((i) => ownText(product(i), 4)).join(' ')}`;
    pages.set(list(n), page(text, [...items.map(product), ...(n + 1 < lists ? [list(n + 1)] : [])]));
  }
  pages.set('http://shop.test/', page(ownText('shop'), [list(0)]));
  const web: SmallWeb = (url) => pages.get(url) ?? {status: 'gone', reason: 'http_404', code: 404};
  return {web, urls: [...pages.keys()]};
}
