import assert from 'node:assert/strict';
import {test} from 'node:test';
import {loadConfig} from '../../lib/config/load.ts';
import {linkRows} from '../../lib/parse/outlinks.ts';
import type {LinkKind} from '../../lib/schema/outlinks.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {parseBase, urlPolicy} from '../../lib/url/normalize.ts';

/** Verdicts on off-host links of a page whose seed allows its own host alone. */
function verdicts(embeds: boolean, kinds: readonly LinkKind[]): [string, boolean][] {
  const {config} = loadConfig({env: {CRAWL_SCOPE_EMBEDS: String(embeds), CRAWL_SCOPE_STAY: 'host'}});
  const scope = makeScope(config.scope, config.url, config.links, []);
  const url = 'http://one.test/';
  const {rows} = linkRows(
    kinds.map((kind) => ({href: `http://other.test/${kind}`, kind, rel: null, anchor: null})),
    10,
    {
      segment: '20260101000000',
      parse_id: 'p',
      capture_id: 'c',
      host_key: 1n,
      url_key: 1n,
      url,
      fetch_time: new Date(0),
      depth: 0,
      seed: url,
      base: parseBase(url),
      nofollow: false,
    },
    {
      url: urlPolicy(config.url),
      scope,
      digest: scope.digest,
      follow: new Set(config.links.follow),
      nofollow: true,
      seedScopes: {},
    },
  );
  return rows.map(({hop_type, accepted}) => [hop_type, accepted]);
}

test('a frame out of scope as a link is fetched as what the page loads, where embeds are', () => {
  assert.deepEqual(verdicts(true, ['a', 'iframe', 'img']), [
    ['L', false],
    ['E', true],
    ['E', true],
  ]);
  assert.deepEqual(verdicts(false, ['a', 'iframe', 'img']), [
    ['L', false],
    ['L', false],
    ['E', false],
  ]);
});
