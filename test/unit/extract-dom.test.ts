import assert from 'node:assert/strict';
import {test} from 'node:test';
import {readEvents, readTree, select, selectFirst, selectorProblem, textOf} from '../../lib/extract/dom.ts';
import type {Element} from '../../lib/extract/nodes.ts';

const page = `<!doctype html><title>T</title><h1>One<br>two</h1><p>a<b>b</b>c<p>d &amp;&nbsp;e
<script>var x = '<a href=no>'</script><ul class="list x"><li><a href=/1>first</a><li class=k><A HREF=/2>second</A></ul>
<table><tr><td>1<td>2</table><template><a href=/3>inert</a></template>`;

test('selectors find elements below a node, relative ones its children', () => {
  const tree = readTree(page, false);
  const hrefs = (found: readonly Element[]) => found.map(({attribs}) => attribs.href);
  assert.deepEqual(hrefs(select('ul.list a[href]', tree, false)), ['/1', '/2']);
  assert.deepEqual(hrefs(select('li:nth-child(2) > a, li:first-of-type a', tree, false)), ['/1', '/2']);
  const list = selectFirst('ul', tree, false)!;
  assert.equal(select('ul', list, false).length, 0, 'the element itself is no match');
  assert.equal(select('> li', list, false).length, 2);
  assert.equal(select(':scope > li.k', list, false).length, 1);
  assert.equal(selectFirst('h2', tree, false), null);
});

test('text is what a person reads', () => {
  const tree = readTree(page, false);
  assert.equal(textOf(selectFirst('h1', tree, false)!), 'One two');
  assert.deepEqual(
    select('p', tree, false).map((node) => textOf(node)),
    ['abc', 'd & e'],
  );
  assert.equal(textOf(selectFirst('table', tree, false)!), '1 2');
  assert.equal(textOf(tree).includes('var x'), false);
  assert.equal(
    textOf(selectFirst('script', tree, false)!),
    "var x = '<a href=no>'",
    'a script, where it is asked for',
  );
});

test('names keep their case in XML, and sections of CDATA are text', () => {
  const tree = readTree('<r><Item a="1"/><Item><![CDATA[a < b]]></Item></r>', true);
  assert.deepEqual(
    select('Item', tree, true).map((node) => textOf(node)),
    ['', 'a < b'],
  );
  assert.equal(select('item', tree, true).length, 0);
});

test('a selector that is none is told', () => {
  assert.equal(selectorProblem('div > a[href^="/x"]'), undefined);
  assert.match(selectorProblem('a[[')!, /Expected name/);
  assert.match(selectorProblem('a:nonsense')!, /nonsense/);
});

test('events bring tags, texts and implied ends', () => {
  const seen: string[] = [];
  readEvents('<p class=x>a &lt; b<p>c<!--d-->', false, {
    open: (name, attributes) => seen.push(`<${name} ${attributes.class ?? ''}`),
    close: (name) => seen.push(`/${name}`),
    text: (piece) => seen.push(piece),
    comment: (text) => seen.push(`!${text}`),
  });
  assert.equal(seen.join('|').replace('a |<| b', 'a < b'), '<p x|a < b|/p|<p |c|!d|/p');
});

test('elements nested without end are an error, not a hang', () => {
  const deep = '<div>'.repeat(100_000);
  assert.throws(() => readTree(deep, false), /more than 5000 elements in each other/);
  assert.throws(() => readEvents(deep, false, {}), /more than 5000/);
  const allowed = readTree(`${'<div>'.repeat(4000)}x`, false);
  assert.equal(textOf(allowed), 'x');
  assert.equal(select('div', allowed, false).length, 4000);
});
