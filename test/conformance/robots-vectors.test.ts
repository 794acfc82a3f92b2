import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {parseHttpDate} from '../../lib/http/http-date.ts';
import {parseRetryAfter} from '../../lib/http/retry-after.ts';
import {checkRobots} from '../../lib/robots/check.ts';
import {isExpired, pageDirectives} from '../../lib/robots/directives.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';

/** Vectors put together from the standards; docs/decisions/0031 has the reasons of the differences. */
interface Vectors<C> {
  readonly cases: readonly C[];
}
function vectors<C>(name: string): readonly C[] {
  return (JSON.parse(readFileSync(corpus(name)!, 'utf8')) as Vectors<C>).cases;
}

interface RobotsCase {
  readonly id: string;
  readonly basis: 'rfc9309' | 'google' | 'contested';
  readonly robots?: string;
  readonly robots_base64?: string;
  readonly agent: string;
  readonly url: string;
  readonly allowed: boolean;
}

/** Cases whose basis is Google's custom, and where we differ unless robots.typos is on. */
const typosOnly = new Set(['typo-disalow.1', 'typo-disalow.2', 'typo-disalow.3', 'typo-useragent.1']);
/** Where we differ always: RFC 9309 gives `index.html` no second meaning, so neither do we. */
const different = new Set(['index-html.1']);

for (const typos of [false, true]) {
  test(`robots.json, typos ${typos ? 'on' : 'off'}`, {skip: withoutCorpus('vectors/robots.json')}, () => {
    const cases = vectors<RobotsCase>('vectors/robots.json');
    assert.ok(cases.length >= 175);
    for (const one of cases) {
      const {allowed} = checkRobots(one, {maxBytes: 500 * 1024, typos});
      const differs = different.has(one.id) || (!typos && typosOnly.has(one.id));
      assert.equal(allowed, differs ? !one.allowed : one.allowed, `${one.id} (${one.basis})`);
      assert.ok(!differs || one.basis !== 'rfc9309', `${one.id}: no difference from the RFC`);
    }
  });
}

interface DirectiveCase {
  readonly kind: 'header' | 'html';
  readonly input: string;
  readonly agent: string;
  readonly effect: readonly string[] | null;
}

test('robots-directives.json, headers', {skip: withoutCorpus('vectors/robots-directives.json')}, () => {
  const cases = vectors<DirectiveCase>('vectors/robots-directives.json').filter(
    ({kind}) => kind === 'header',
  );
  assert.ok(cases.length >= 16);
  for (const {input, agent, effect} of cases) {
    const headers = input.split('\n').map((line) => line.slice(line.indexOf(':') + 1));
    const found = pageDirectives({meta: [], headers, productToken: agent});
    const names = (['noindex', 'nofollow', 'noarchive'] as const).filter((name) => found[name]) as string[];
    if (isExpired(found, Date.UTC(2026, 0, 1))) names.push('expired');
    if (effect !== null) assert.deepEqual(names, effect, input);
  }
});

test('http-dates.json', {skip: withoutCorpus('vectors/http-dates.json')}, () => {
  const cases = vectors<{value: string; epoch: number | null}>('vectors/http-dates.json');
  assert.ok(cases.length >= 21);
  for (const {value, epoch} of cases) {
    assert.equal(parseHttpDate(value), epoch === null ? null : epoch * 1000, value);
  }
});

test('retry-after.json', {skip: withoutCorpus('vectors/retry-after.json')}, () => {
  const now = Date.UTC(2026, 0, 1);
  const cases = vectors<{value: string; seconds?: number | null; kind?: string}>('vectors/retry-after.json');
  assert.ok(cases.length >= 13);
  for (const {value, seconds, kind} of cases) {
    const wait = parseRetryAfter(value, now);
    if (value === '99999999999') {
      assert.ok(wait !== null && wait > 0 && wait <= 365 * 86_400_000, 'capped, not overflowing');
    } else if (kind === undefined) assert.equal(wait, seconds === null ? null : seconds! * 1000, value);
    else if (kind === 'past') assert.equal(wait, 0, value);
    else assert.ok(wait !== null && wait > 0, value);
  }
});
