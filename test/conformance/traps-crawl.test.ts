import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import type {FamilyRow} from '../../lib/schema/families.ts';
import {corpus} from '../support/corpora.ts';
import {defaultOptions} from '../support/default-options.ts';
import {jobHarness} from '../support/job-harness.ts';
import {fetchSegment} from '../support/small-web.ts';
import {honestWeb, trapSites, trapWeb} from '../support/trap-web.ts';

/** Pages that look like traps, from the vectors where they are on the machine, on the host of their trap. */
function lookalikes(): Record<string, string[]> {
  const path = corpus('vectors/traps.json');
  if (path === undefined || path === null) return {};
  const {cases} = JSON.parse(readFileSync(path, 'utf8')) as {
    cases: {id: string; legit_lookalikes?: string[]}[];
  };
  return Object.fromEntries(
    cases.map(({id, legit_lookalikes = []}) => [
      id,
      legit_lookalikes.map((url) => url.replace(/^https:\/\/[^/]+/, `http://${id}.test`)),
    ]),
  );
}

test('each family of endless URLs stops growing, and what only looks like one is fetched', async (t) => {
  const crawl = await jobHarness(
    t,
    'generate:\n  max_per_host: 30\nscope:\n  max_depth: 1000\ntraps:\n  min_pages: 10\n',
  );
  const wanted = lookalikes();
  const traps = trapWeb(wanted);
  const honest = honestWeb(60, 60);
  const web = (url: string) => (/^http:\/\/(archive|shop)\.test\//.test(url) ? honest.web(url) : traps(url));
  const seeds = [
    ...trapSites.map(({host}) => `http://${host}/`),
    'http://archive.test/',
    'http://shop.test/',
  ];
  await crawl.run(inject, {files: [], update: false, overwrite: false, urls: seeds});
  let idle = false;
  for (let round = 0; round < 12 && !idle; round++) {
    const report = await crawl.run(generate, defaultOptions(generate));
    idle = report.outcome === 'nothing' || report.counters.urls_selected_total === 0;
    if (idle) break;
    await fetchSegment(crawl, report.plan!.segment!, web);
    await crawl.run(updatedb, {...defaultOptions(updatedb), segments: []});
  }
  assert.ok(idle, 'the crawl came to its end');
  const fetched = await crawl.sql<{url: string; domain: string}>(
    `SELECT url, url_host_registered_domain AS domain FROM crawldb WHERE fetch_time IS NOT NULL`,
  );
  const asked = new Set(fetched.map(({url}) => url));
  for (const url of [
    ...Object.entries(wanted).flatMap(([id, urls]) => (trapSites.some((site) => site.id === id) ? urls : [])),
    ...honest.urls,
  ])
    assert.ok(asked.has(url), `lost: ${url}`);
  for (const {id, host} of trapSites) {
    const pages = fetched.filter(({domain}) => domain === host).length;
    assert.ok(pages <= 100, `${id}: ${pages} pages`);
  }
  const closed = await crawl.sql<FamilyRow>(`SELECT * FROM families WHERE state = 'quarantined'`);
  assert.ok(closed.length >= 10);
  assert.deepEqual(
    closed.filter(({place}) => place === 'archive.test' || place === 'shop.test'),
    [],
  );
});
