import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {FamilyRow} from '../../lib/schema/families.ts';
import {simhash} from '../../lib/signature/simhash.ts';
import {familiesOf, familyKey} from '../../lib/traps/family.ts';
import {type FirstVisit, foldVisits, type TrapRule} from '../../lib/traps/ledger.ts';
import {makeQuarantine, probePages} from '../../lib/traps/quarantine.ts';
import {judge, nothingSeen, seePage} from '../../lib/traps/watch.ts';
import {hostOf} from '../../lib/url/host.ts';
import {page, type SmallWeb} from '../support/small-web.ts';
import {honestWeb, ownText} from '../support/trap-web.ts';

const narrow = (url: string) => familiesOf(url)[0]!.pattern;
const day = 86_400_000;
const rule: TrapRule = {minPages: 20, minNovel: 0.1, nearBits: 8, probeMs: 30 * day};

test('what varies becomes its kind; what names a program stays', () => {
  for (const [url, pattern] of [
    ['http://a.test/', '/'],
    ['http://a.test/events/2031/05/', '/events/{n}/'],
    ['http://a.test/events/1899/12/31/', '/events/{n}/'],
    ['http://a.test/2024/03/15/council-meeting', '/{n}/{w}'],
    ['http://a.test/deep/1/1/1/1/', '/deep/{n}/'],
    ['http://a.test/infra/www/infra/www/common/', '/infra/{a}/'],
    ['http://a.test/s/1f0c9a0b3d4e5f60718293a4b5c6d7e8/item', '/s/{x}/{a}'],
    ['http://a.test/w/index.php?title=Main&action=edit', '/w/index.php?action=edit&title={a}'],
    ['http://a.test/calendar?year=2026&month=1&day=1', '/calendar?day={n}&month={n}&year={n}'],
    ['http://a.test/list?prefn1=size&prefn2=color', '/list?prefn{n}=color&prefn{n}=size'],
    ['http://a.test/?s=a', '/?s={a}'],
    ['http://a.test/tag/a+b+c/', '/tag/{w}/'],
    ['http://a.test/tag/linux/', '/tag/{a}/'],
  ] as const)
    assert.equal(narrow(url), pattern, url);
});

test('a URL is in a narrow family, wider ones, and one of its domain', () => {
  assert.deepEqual(familiesOf('http://a.example.org/shoes?color=red&size=42').map(familyKey), [
    'a.example.org /shoes?color=red&size={n}',
    'a.example.org /shoes?*',
    'a.example.org /{a}',
    '*.example.org /shoes',
  ]);
  assert.deepEqual(familiesOf('http://www.example.org/x').map(familyKey), [
    'www.example.org /x',
    'www.example.org /{a}',
  ]);
});

test('texts without end that are like each other are barren, texts with words of their own are not', () => {
  const fold = (text: (i: number) => string, inside: boolean) =>
    Array.from({length: 60}, (_, i) => i).reduce(
      (counts, i) => seePage(counts, {simhash: simhash(text(i)), inside}, 8),
      nothingSeen,
    );
  const month = (i: number) =>
    `Events calendar Home About Contact month ${1 + (i % 12)} of ${2026 + Math.floor(i / 12)} Mo Tu We Th Fr Sa Su ${Array.from({length: 30}, (_, d) => d + 1).join(' ')} No events this month Previous Next Imprint`;
  const product = (i: number) => `Shop Basket Delivery in three days ${ownText(`p${i}`, 20)} Imprint`;
  assert.equal(judge(fold(month, true), rule), 'self_feeding');
  assert.equal(judge(fold(month, false), rule), 'open', 'a list of poor pages from elsewhere is finite');
  assert.equal(
    judge(
      fold(() => 'always the same words here', false),
      rule,
    ),
    'repeats',
  );
  assert.equal(judge(fold(product, true), rule), 'open');
  assert.ok(fold(product, true).novel === 60);
});

const visits = (from: number, to: number, text: (i: number) => string): FirstVisit[] =>
  Array.from({length: to - from}, (_, i) => ({
    url: `http://a.test/list?page=${from + i}`,
    simhash: simhash(text(from + i)),
    from: `http://a.test/list?page=${from + i - 1}`,
  }));
const closed = (rows: readonly FamilyRow[]) =>
  rows.filter(({state}) => state === 'quarantined').map(familyKey);

test('quarantine, trial and release: the wide family is not charged with what the narrow one did', () => {
  const empty = (i: number) =>
    `Home About Contact Basket Account. Nothing is listed here. This is page ${i} of the list of all that there is in this shop of ours, which is open on weekdays. Previous and next. All rights reserved.`;
  const rows = foldVisits([], visits(0, 40, empty), rule, 0);
  assert.deepEqual(closed(rows), ['a.test /list?page={n}']);
  const row = rows.find(({state}) => state === 'quarantined')!;
  assert.equal(row.verdict, 'self_feeding');
  assert.equal(row.probe_time!.getTime(), 30 * day);

  const again = foldVisits(rows, visits(40, 55, empty), rule, 31 * day);
  const stillClosed = again.find(({pattern}) => pattern === row.pattern)!;
  assert.deepEqual([stillClosed.state, stillClosed.probes], ['quarantined', 1]);
  assert.equal(stillClosed.probe_time!.getTime(), (31 + 60) * day);

  const better = foldVisits(
    again,
    visits(55, 70, (i) => ownText(`${i}`)),
    rule,
    92 * day,
  );
  assert.equal(better.find(({pattern}) => pattern === row.pattern)!.state, 'open');
});

test('a family closed or released by hand; a trial lets a few URLs through', () => {
  const url = (i: number) => `http://a.test/list?page=${i}`;
  const family = {place: 'a.test', pattern: '/list?page={n}', probe_time: new Date(10)};
  const wide = {place: 'a.test', pattern: '/list?page', probe_time: null};
  assert.equal(makeQuarantine([family], [], null).closes(url(1))?.pattern, '/list?page={n}');
  assert.equal(makeQuarantine([family], [], null).closes('http://a.test/list'), undefined);
  const released = makeQuarantine([family, wide], [{...family, action: 'release'}], null);
  assert.equal(released.closes(url(1)), undefined);
  assert.ok(makeQuarantine([], [{...family, action: 'block'}], 1000).closes(url(1)));
  const trial = makeQuarantine([family], [], 1000);
  const through = Array.from({length: 50}, (_, i) => url(i)).filter((one) => trial.closes(one) === undefined);
  assert.equal(through.length, probePages);
  assert.equal(trial.closes(url(0)), undefined, 'asked again, the same answer');
  assert.ok(makeQuarantine([family], [], 5).closes(url(1)), 'its time has not come');
});

test('host names without end are one family of their domain', () => {
  const list = Array.from({length: 40}, (_, i) => ({
    url: `http://h${i}.wild.test/`,
    simhash: simhash('welcome to this host of ours'),
    from: `http://h${i - 1}.wild.test/`,
  }));
  assert.deepEqual(closed(foldVisits([], list, rule, 0)), ['*.wild.test /']);
});

/** Rounds as updatedb judges them, with at most `perRound` pages a host: the pages that were fetched. */
function crawl(start: readonly string[], web: SmallWeb, perRound: number, rounds: number): Set<string> {
  const known = new Map<string, string | null>(start.map((url) => [url, null]));
  const fetched = new Set<string>();
  let rows: FamilyRow[] = [];
  for (let round = 0; round < rounds; round++) {
    const hosts = new Map<string, number>();
    const list: FirstVisit[] = [];
    const before = quarantineOf(rows);
    for (const [url, from] of known) {
      const host = hostOf(url);
      const n = hosts.get(host) ?? 0;
      if (n === perRound || fetched.has(url) || before.closes(url)) continue;
      hosts.set(host, n + 1);
      fetched.add(url);
      const {body} = web(url);
      list.push({url, simhash: body === undefined ? null : simhash(body), from});
    }
    if (list.length === 0) break;
    const after = new Map(rows.map((row) => [familyKey(row), row]));
    for (const row of foldVisits(rows, list, {...rule, minPages: 100}, round * 3_600_000))
      after.set(familyKey(row), row);
    rows = [...after.values()];
    const closing = quarantineOf(rows);
    for (const {url} of list)
      for (const link of web(url).links ?? [])
        if (!known.has(link) && !closing.closes(link)) known.set(link, url);
  }
  return fetched;
}
const quarantineOf = (rows: readonly FamilyRow[]) =>
  makeQuarantine(
    rows.filter(({state}) => state === 'quarantined'),
    [],
    null,
  );

test('a maze that grows by a few pages a round is stopped, whatever its words; what is new slowly goes on', () => {
  const empty = (i: number) =>
    `Home About Contact Basket Account. Nothing is listed here. This is page ${i} of the list of all that there is in this shop of ours, which is open on weekdays. Previous and next. All rights reserved.`;
  const word = (i: number) => [...`${i}`].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  const number = (url: string) =>
    Number([...(/([a-j]+)$/.exec(url)?.[1] ?? 'a')].map((c) => 'abcdefghij'.indexOf(c)).join(''));
  const web: SmallWeb = (url) => {
    const i = number(url);
    const {host} = new URL(url);
    const next = [1, 2].map(
      (step) => `http://${host}/${host === 'numbers.test' ? 'day/' : ''}${word(2 * i + step)}`,
    );
    const links = host === 'diary.test' ? [`http://diary.test/${word(i + 1)}`] : next;
    return page(host === 'diary.test' ? ownText(url) : empty(i), links);
  };
  const start = ['words', 'numbers', 'diary'].map(
    (name) => `http://${name}.test/${name === 'numbers' ? 'day/' : ''}a`,
  );
  const fetched = [...crawl(start, web, 3, 40)];
  const of = (host: string) => fetched.filter((url) => hostOf(url) === host).length;
  assert.ok(of('words.test') <= 30, `${of('words.test')} pages of words`);
  assert.ok(of('numbers.test') <= 30, `${of('numbers.test')} pages below a folder`);
  assert.equal(of('diary.test'), 40, 'an entry a round, each with its own text');
});

test('a trap closes no honest neighbour, however few pages that has', () => {
  const empty =
    'Home About Contact Basket Account. No events this month. Previous and next. All rights reserved.';
  const sections = ['calendar', 'events', 'agenda', 'archive'];
  const web: SmallWeb = (url) => {
    const [, section, number] = /test\/([a-z]+)\/(\d+)$/.exec(url)!;
    const i = Number(number);
    return section === 'news'
      ? page(ownText(url), [`http://a.test/news/${i + 1}`])
      : page(`${empty} ${section} ${i}`, [`http://a.test/${section}/${i + 8}`]);
  };
  const start = sections.flatMap((section) =>
    Array.from({length: 8}, (_, i) => `http://a.test/${section}/${i}`),
  );
  const fetched = [...crawl(['http://a.test/news/0', ...start], web, 1000, 40)];
  const of = (section: string) => fetched.filter((url) => url.includes(`/${section}/`)).length;
  assert.equal(of('news'), 40, 'an entry a round');
  for (const section of sections) assert.ok(of(section) <= 120, `${of(section)} pages of ${section}`);
});

test('a shop of 10,000 products and an archive of ten years by day are crawled whole', () => {
  const {web, urls} = honestWeb(3650, 10_000);
  const fetched = crawl(['http://shop.test/', 'http://archive.test/'], web, 1000, 1000);
  assert.deepEqual(
    urls.filter((url) => !fetched.has(url)),
    [],
  );
  assert.ok(urls.length > 13_650);
});
