import assert from 'node:assert/strict';
import {test} from 'node:test';
import {explain} from '../../jobs/explain.ts';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {isStoredScore, scoreParts, weightProblem, weightsOf} from '../../lib/score/score.ts';
import {defaultOptions} from '../support/default-options.ts';
import {jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, parseSegment, type SmallWeb} from '../support/small-web.ts';

test('weights name parts and are numbers; the stored score alone is no weighing', () => {
  assert.equal(weightProblem('seed', '0.5'), undefined);
  assert.match(weightProblem('seeds', '1') ?? '', /no part seeds/);
  for (const text of ['', '-1', 'NaN', '1e9', 'much']) assert.ok(weightProblem('depth', text), text);
  assert.ok(isStoredScore(weightsOf({seed: '3', depth: '0'})));
  assert.deepEqual(weightsOf({opic: '2', age: '1'}), {age: 1, opic: 2});
  const bad = {name: 'crawl.yaml', text: 'score:\n  weights: {seed: 1, fame: 2}\n'};
  assert.throws(() => loadConfig({env: {}, file: bad}), /fame/);
  assert.equal(new Set(scoreParts.map(({name}) => name)).size, scoreParts.length);
});

const a = 'http://a.test/';
const b = 'http://b.test/';
const x = 'http://x.test/';
const y = 'http://y.test/';

test('OPIC shares scores out over links as they are: again counts nothing twice, and a link that goes takes its share', async (t) => {
  const crawl = await jobHarness(t, 'score:\n  weights: {opic: 1}\n');
  await crawl.run(inject, {...defaultOptions(inject), urls: [`${a}\tscore=4`, `${b}\tscore=1`]});
  let web: SmallWeb = (url) => page(url, url === a ? [x, y] : url === b ? [x] : []);
  const first = await crawl.run(generate, defaultOptions(generate));
  await fetchSegment(crawl, first.plan!.segment!, web);
  await crawl.run(updatedb, defaultOptions(updatedb));
  await crawl.run(invertlinks, defaultOptions(invertlinks));
  const partsOf = async (url: string) =>
    (await explain(url, {dir: crawl.dir, config: crawl.config, signal: crawl.effects.signal})).priority;
  assert.deepEqual(await partsOf(x), [{part: 'opic', weight: 1, value: 4 / 2 + 1}]);
  assert.deepEqual(await partsOf(y), [{part: 'opic', weight: 1, value: 2}]);

  // Another parse of the same segment, in which a links to y alone
  web = (url) => page(url, url === a ? [y] : url === b ? [x] : []);
  await parseSegment(crawl, first.plan!.segment!, web, 'p2');
  await crawl.run(updatedb, defaultOptions(updatedb));
  await crawl.run(invertlinks, defaultOptions(invertlinks));
  assert.deepEqual(await partsOf(x), [{part: 'opic', weight: 1, value: 1}]);
  assert.deepEqual(await partsOf(y), [{part: 'opic', weight: 1, value: 4}]);

  const second = await crawl.run(generate, {...defaultOptions(generate), topN: 1});
  const list = await crawl.sql<{url: string; score: number}>(
    `SELECT url, score FROM fetchlist WHERE segment = '${second.plan!.segment}'`,
  );
  assert.deepEqual(list, [{url: y, score: 4}]);
  assert.deepEqual((await crawl.head()).segment(second.plan!.segment!).selection?.weights, {opic: 1});
  const {passedOver} = await explain(x, {dir: crawl.dir, config: crawl.config, signal: crawl.effects.signal});
  assert.match(passedOver[0]?.detail ?? '', /it stood at 1, .* stood at 4/);
});

test('parts add up by their weights: depth, the stored score, and inlinks as soon as they are known', async (t) => {
  const crawl = await jobHarness(
    t,
    'score:\n  weights: {seed: 2, depth: 1, inlinks: 1, age: 3, linkrank: 1}\n',
  );
  await crawl.run(inject, {...defaultOptions(inject), urls: [`${a}\tscore=0.5`, `${b}\tscore=0.5`]});
  const first = await crawl.run(generate, defaultOptions(generate));
  const scores = async (segment: string) =>
    Object.fromEntries(
      (
        await crawl.sql<{url: string; score: number}>(
          `SELECT url, score FROM fetchlist WHERE segment = '${segment}'`,
        )
      ).map(({url, score}) => [url, score]),
    );
  const alone = 2 * 0.5 + 1; // never fetched, no link to it, no rank
  assert.deepEqual(await scores(first.plan!.segment!), {[a]: alone, [b]: alone});

  await fetchSegment(crawl, first.plan!.segment!, (url) => page(url, url === a ? [x, y] : [x]));
  await crawl.run(updatedb, defaultOptions(updatedb));
  await crawl.run(invertlinks, defaultOptions(invertlinks));
  const files = await (await crawl.head()).files('inlinks');
  assert.ok(
    files.some(({rows}) => rows > 0),
    'the test needs inlinks that no compaction took up',
  );
  const second = await crawl.run(generate, defaultOptions(generate));
  const unlinked = 2 * 0.5 * 0.85 + 1 / 2; // one link from a seed
  assert.deepEqual(await scores(second.plan!.segment!), {
    [x]: unlinked + Math.log(1 + 2),
    [y]: unlinked + Math.log(1 + 1),
  });
});
