import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import {isAllowed, type RobotsRules, rulesFor} from '../../lib/robots/match.ts';
import {parseRobots} from '../../lib/robots/parse.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {type RealAnswer, realAnswers, realRobots} from '../support/real-robots.ts';

/** Real files of 2,852 hosts, and what google/robotstxt, npm robots-parser and protego answer on them. */
const skip = withoutCorpus('robots/real-answers.jsonl');
const files = skip === false && corpus('robots') !== undefined ? realRobots() : new Map<string, Buffer>();

const cache = new Map<string, RobotsRules>();
function rulesOf({host, agent}: RealAnswer, typos: boolean): RobotsRules {
  const key = `${host} ${agent} ${typos}`;
  let rules = cache.get(key);
  if (rules === undefined) {
    // The whole file: one host of the corpus has 852,930 bytes, and the other parsers have no limit.
    rules = rulesFor(parseRobots(files.get(host)!, {maxBytes: Number.MAX_SAFE_INTEGER, typos}), agent);
    cache.set(key, rules);
  }
  return rules;
}

for (const typos of [false, true]) {
  test(`where three parsers agree, we agree (typos ${typos ? 'on' : 'off'})`, {skip}, () => {
    const answers = realAnswers('real-answers');
    assert.ok(answers.length >= 9076);
    const wrong = answers.filter((one) => isAllowed(rulesOf(one, typos), one.url).allowed !== one.expected);
    assert.deepEqual(wrong, []);
  });
}

/**
 * Where the three differ, ours is Google's answer, but for one kind: a rule with characters that no URL can have
 * (a blank, braces). RFC 9309, 2.2.2 has them compared in escaped form; google/robotstxt never matches them.
 */
test('where they differ, we answer as google/robotstxt, but for rules with characters no URL can have', {
  skip,
}, () => {
  const answers = realAnswers('real-answers-contested');
  assert.ok(answers.length >= 1638);
  let different = 0;
  for (const one of answers) {
    const answer = isAllowed(rulesOf(one, false), one.url);
    if (answer.allowed === one.google) continue;
    different++;
    assert.equal(answer.allowed, false, `${one.url}: the difference is on the careful side`);
    assert.match(answer.rule!, /[ {}]/, one.url);
    assert.match(one.url, /%20|%7B/, one.url);
  }
  assert.ok(different > 0 && different < answers.length / 20, `${different} of ${answers.length}`);
});

type RobotsParser = (
  url: string,
  text: string,
) => {isAllowed(url: string, agent: string): boolean | undefined};

/** Kinds of difference from robots-parser 3.0.1, each with how to know it. Anything else fails the test. */
const kinds: Readonly<Record<string, (one: RealAnswer, rule: string | null, text: string) => boolean>> = {
  'a URL that ends in a bare question mark, which the library drops': ({url}) => /\?$/.test(url),
  'groups: the library ends a run of agent lines at Crawl-delay, Sitemap and unknown lines': (
    {agent},
    _rule,
    text,
  ) => new RegExp(`^\\s*user-agent:\\s*${agent}`, 'im').test(text),
  'an agent line of several words, with a star or version: the library wants the whole': (
    {agent},
    _rule,
    text,
  ) => new RegExp(`^\\s*user-agent:.*${agent}`, 'im').test(text),
  'groups for all, ended early by such a line': (_one, _rule, text) =>
    /^\s*user-agent:\s*\*[^\S\r\n]*(?:#.*)?(?:\s*(?:#.*|(?!(?:dis)?allow)[\w-]+:.*))+\s*user-agent:/im.test(
      text,
    ),
  'escapes and characters of regular expressions': (_one, rule) =>
    rule !== null && /[%[\]|^{}+()\\]/.test(rule),
  'a Unicode blank behind a path, which is bytes of the path to us and white space to the library': (
    _one,
    _rule,
    text,
  ) => /[\u00A0\u2000-\u200A]/.test(text),
  'UTF-16 files are read': (_one, _rule, text) => text.includes('\0'),
};

test('robots-parser as a judge: a sample of all questions, differences of known kinds only', {skip}, () => {
  const robotsParser = createRequire(import.meta.url)('robots-parser') as RobotsParser;
  const answers = [...realAnswers('real-answers'), ...realAnswers('real-answers-contested')];
  const texts = new Map([...files].map(([host, bytes]) => [host, bytes.toString('utf8')]));
  const parsers = new Map<string, ReturnType<RobotsParser>>();
  const counts = new Map<string, number>();
  const unknown: unknown[] = [];
  let asked = 0;
  for (const [index, one] of answers.entries()) {
    const text = texts.get(one.host)!;
    if (index % 2 === 1 || text.length > 100_000) continue; // the library takes milliseconds a question on those
    asked++;
    let parser = parsers.get(one.host);
    if (parser === undefined) {
      parser = robotsParser(`https://${one.host}/robots.txt`, text);
      parsers.set(one.host, parser);
    }
    const ours = isAllowed(rulesOf(one, false), one.url);
    const theirs = parser.isAllowed(one.url, one.agent) ?? true;
    if (ours.allowed === theirs) continue;
    const kind = Object.keys(kinds).find((name) => kinds[name]!(one, ours.rule, text));
    if (kind === undefined) unknown.push({...one, ours, theirs});
    else counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  assert.deepEqual(unknown, []);
  assert.ok(asked > 5000);
  const differences = [...counts.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(differences > 50 && differences < 1000, JSON.stringify([...counts]));
});
