import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {pageDirectives} from '../../lib/robots/directives.ts';
import {indexRules} from '../../lib/robots/index-rules.ts';
import {isAllowed, pathOf, rulesFor} from '../../lib/robots/match.ts';
import {parseRobots} from '../../lib/robots/parse.ts';
import {corpus} from '../support/corpora.ts';
import {realRobots} from '../support/real-robots.ts';

const samples =
  corpus('robots') === undefined
    ? [Buffer.from('User-agent: *\nDisallow: /*a$\n')]
    : [...realRobots().values()];

const options = {maxBytes: 500 * 1024, typos: false};
const rules = (bytes: Uint8Array, agent = 'a') => rulesFor(parseRobots(bytes, options), agent);

/** Patterns and paths over few characters, so that they meet. */
const pattern = fc.string({
  unit: fc.constantFrom('/', 'a', 'b', '*', '*', '$', '%61', '%2A', '?'),
  maxLength: 8,
});
const path = fc
  .string({unit: fc.constantFrom('/', 'a', 'b', '*', '$', '%61', '%2a', '?'), maxLength: 10})
  .map((text) => '/' + text);
const ruleLine = fc
  .tuple(fc.boolean(), pattern)
  .map(([allow, text]) => `${allow ? 'Allow' : 'Disallow'}: /${text}`);
const line = fc.oneof(
  {weight: 6, arbitrary: ruleLine},
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'User-agent: a',
      'User-agent: *',
      'User-agent: b',
      'Crawl-delay: 3',
      '# x',
      '',
      'x',
    ),
  },
);
const robotsLines = fc.array(line, {maxLength: 15}).map((lines) => ['User-agent: *', ...lines]);

test('answers do not depend on line ends', () => {
  fc.assert(
    fc.property(
      robotsLines,
      path,
      fc.array(fc.constantFrom('\n', '\r\n', '\r'), {minLength: 16, maxLength: 16}),
      (lines, url, ends) => {
        const plain = rules(Buffer.from(lines.join('\n')));
        // A CR before an empty line that ends in LF would be one CRLF: lines are kept apart by a blank.
        const mixed = rules(Buffer.from(lines.map((text, i) => text + ' ' + ends[i % ends.length]).join('')));
        assert.deepEqual(isAllowed(mixed, url), isAllowed(plain, url));
        assert.equal(mixed.crawlDelayS, plain.crawlDelayS);
      },
    ),
    {numRuns: 500},
  );
});

/** Rules read one by one, matched by dynamic programming over pattern and path: slow and plain. */
function plainAnswer(lines: readonly string[], url: string): {allowed: boolean; line: number | null} {
  const target = pathOf(url);
  let best: {length: number; allow: boolean; line: number} | undefined;
  for (const [index, text] of lines.entries()) {
    const [, key, raw] = /^(Allow|Disallow): (.*)$/.exec(text) ?? [];
    if (key === undefined || raw === undefined) continue;
    const anchored = raw.endsWith('$');
    const body = (anchored ? raw.slice(0, -1) : raw).replace(/%61/g, 'a').replaceAll('$', '%24');
    if (!matches(body, anchored, target)) continue;
    const one = {length: body.length + (anchored ? 1 : 0), allow: key === 'Allow', line: index + 1};
    if (
      best === undefined ||
      one.length > best.length ||
      (one.length === best.length && one.allow && !best.allow)
    ) {
      best = one;
    }
  }
  return {allowed: best?.allow ?? true, line: best?.line ?? null};
}

function matches(body: string, anchored: boolean, target: string): boolean {
  let ends = new Set([0]);
  for (const c of body) {
    const next = new Set<number>();
    for (const at of ends) {
      if (c === '*') for (let i = at; i <= target.length; i++) next.add(i);
      else if (target[at] === c) next.add(at + 1);
    }
    ends = next;
  }
  return anchored ? ends.has(target.length) : ends.size > 0;
}

test('the index answers as trying each rule does', () => {
  const onlyRules = fc.array(ruleLine, {maxLength: 12}).map((lines) => ['User-agent: *', ...lines]);
  fc.assert(
    fc.property(onlyRules, path, (lines, url) => {
      const {allowed, line: deciding} = isAllowed(rules(Buffer.from(lines.join('\n'))), url);
      const expected = url === '/robots.txt' ? {allowed: true, line: null} : plainAnswer(lines, url);
      assert.deepEqual({allowed, line: deciding}, expected);
    }),
    {numRuns: 3000},
  );
});

/** Length of a pattern as compared, by another way than the index: what a URL cannot have counts as an escape. */
function comparedLength(octets: string): number {
  return octets.replace(/%[0-9a-f]{2}|[^\x21-\x7e]|[{}"|^`<>\\']/gi, '%XX').length;
}

test('rules of real files together answer as each of them alone', () => {
  let asked = 0;
  for (const bytes of samples.filter((_, i) => i % 20 === 0)) {
    if (bytes.length > 30_000) continue;
    const all = rules(bytes, 'examplebot');
    const alone = all.rules.map((rule) => ({rule, own: {...all, index: indexRules([rule])}}));
    for (const {octets} of all.rules.slice(0, 30)) {
      for (const url of [octets.replace(/\*/g, 'zz').replace(/\$$/, ''), octets.replace(/\*/g, '') + 'x']) {
        let best: {length: number; allow: boolean} | undefined;
        for (const {rule, own} of alone) {
          if (isAllowed(own, url).line === null) continue;
          const one = {length: comparedLength(rule.octets), allow: rule.allow};
          const isLonger = best === undefined || one.length > best.length;
          if (isLonger || (one.length === best!.length && one.allow)) best = one;
        }
        assert.equal(isAllowed(all, url).allowed, best?.allow ?? true, url);
        asked++;
      }
    }
  }
  assert.ok(asked > 0);
});

test('any bytes are a robots.txt, and any text a URL', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({maxLength: 300}),
      fc.string(),
      fc.string(),
      fc.boolean(),
      (bytes, agent, url, typos) => {
        const file = parseRobots(bytes, {maxBytes: 200, typos});
        isAllowed(rulesFor(file, agent), url);
        pageDirectives({meta: [{name: 'robots', content: url}], headers: [url, agent], productToken: agent});
      },
    ),
    {numRuns: 1000},
  );
});

test('real files with bytes changed, cut and doubled are read', () => {
  const mutation = fc.record({
    at: fc.double({min: 0, max: 0.999, noNaN: true}),
    byte: fc.nat(255),
    kind: fc.constantFrom('set', 'cut', 'double', 'insert'),
  });
  fc.assert(
    fc.property(
      fc.nat(samples.length - 1),
      fc.array(mutation, {minLength: 1, maxLength: 8}),
      (index, mutations) => {
        let bytes = Buffer.from(samples[index]!.subarray(0, 20_000));
        for (const {at, byte, kind} of mutations) {
          const offset = Math.floor(at * bytes.length);
          if (kind === 'set' && bytes.length > 0) bytes[offset] = byte;
          else if (kind === 'cut') bytes = bytes.subarray(0, offset);
          else if (kind === 'double') bytes = Buffer.concat([bytes.subarray(0, offset), bytes]);
          else
            bytes = Buffer.concat([bytes.subarray(0, offset), Buffer.from([byte]), bytes.subarray(offset)]);
        }
        const ours = rules(bytes);
        for (const rule of ours.rules) assert.ok(rule.line >= 1);
        const {rule, line: deciding} = isAllowed(ours, 'https://example.com/a/b?c=d');
        assert.equal(rule === null, deciding === null);
      },
    ),
    {numRuns: 300},
  );
});
