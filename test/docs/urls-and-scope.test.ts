import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {settingsByName} from '../../lib/config/load.ts';
import {parseOwnRules} from '../../lib/scope/own-form.ts';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {steps} from '../../lib/url/steps.ts';
import {defaultConfig} from '../support/url-config.ts';

const page = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');
const policyPage = page('urls-and-scope.md');
const nutchPage = page('from-nutch.md');

const normal = (input: string, rules: string): string => {
  const result = normalizeUrl(
    input,
    urlPolicy(defaultConfig.url, {text: rules.replaceAll('<tab>', '\t'), file: 'rules'}),
  );
  return 'url' in result ? result.url : `${result.reason}: ${result.detail}`;
};

test('every setting that the pages name is one', () => {
  const sections = new Set([...settingsByName.keys()].map((name) => name.split('.')[0]));
  for (const text of [policyPage, nutchPage])
    for (const [, name = ''] of text.matchAll(/`([a-z]+\.[a-z_]+)(?:: [a-z]+)?`/g))
      if (sections.has(name.split('.')[0])) assert.ok(settingsByName.has(name), name);
});

test('the page lists every step, in order', () => {
  const listed = [...policyPage.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    listed,
    steps.map(({name}) => name),
  );
});

test('every rule that the page shows is one', () => {
  const shown = [...policyPage.matchAll(/^\| (`[+-] .*`) \| /gm)].flatMap(([, cell]) => [
    ...cell!.matchAll(/`([^`]+)`/g),
  ]);
  assert.ok(shown.length >= 14);
  for (const [, rule = ''] of shown) assert.equal(parseOwnRules([[1, rule]], 'page')[0]?.line, 1, rule);
});

test('the rules of the example do what they say', () => {
  const [, example = ''] = /```\n(# index pages[\s\S]*?)```/.exec(policyPage) ?? [];
  for (const [input, expected] of [
    ['https://a.org/x/index.html', 'https://a.org/x/'],
    ['https://www.example.org/?ref=1&b=1&a=2', 'https://www.example.org/?a=2&b=1'],
    ['https://shop.example.com//p/7/hat?gclid=1', 'https://shop.example.com/p/7/hat?gclid=1'],
    ['https://shop.example.com//p/7/hat', 'https://shop.example.com/p/7'],
    ['http://www.example.net/a', 'https://www.example.net/a'],
    ['http://example.net/a', 'https://example.net/a'],
  ] as const)
    assert.equal(normal(input, example), expected);
});

test('the rules for Nutch’s normalizers do what they say', () => {
  const rules = [...nutchPage.matchAll(/`([^`]*<tab>[^`]*)`/g)].map(([, rule]) => rule!);
  const [host, protocol, add, remove, ...others] = rules;
  assert.deepEqual(others, []);
  assert.equal(normal('http://www.example.org/a', host!), 'http://example.org/a');
  assert.equal(normal('http://www.example.org/a', protocol!), 'https://www.example.org/a');
  assert.equal(normal('http://a.org/b', add!), 'http://a.org/b/');
  assert.equal(normal('http://a.org/b.html', add!), 'http://a.org/b.html');
  assert.equal(normal('http://a.org/b?c=/d', add!), 'http://a.org/b?c=/d');
  assert.equal(normal('http://a.org/b/', remove!), 'http://a.org/b');
  assert.equal(normal('http://a.org/', remove!), 'http://a.org/');
  assert.equal(normal('http://a.org/b?c=/', remove!), 'http://a.org/b?c=/');
});
