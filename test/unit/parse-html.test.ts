import assert from 'node:assert/strict';
import {test} from 'node:test';
import {cssUrls} from '../../lib/parse/css.ts';
import {type HtmlFacts, readHtml} from '../../lib/parse/html.ts';
import {markupOfBytes, markupOfText} from '../../lib/parse/html-events.ts';
import {srcsetUrls} from '../../lib/parse/links.ts';
import {withinTime} from '../support/time-limit.ts';

function read(view: string, maxLinks = 1000): HtmlFacts {
  return readHtml(markupOfBytes(Buffer.from(view), false), {maxText: 100_000, maxAnchor: 200, maxLinks});
}
const text = (view: string): string => read(view).text.text;
const links = (view: string): string[] =>
  read(view).links.map(({kind, href, anchor, rel}) => [kind, href, anchor ?? '-', rel ?? '-'].join(' '));

test('text is what a reader sees, a block a line', () => {
  const cases: readonly (readonly [view: string, text: string])[] = [
    ['<p>a  b\n c<p>d', 'a b c\nd'],
    ['a<br>b', 'a\nb'],
    ['x<b>y</b>z', 'xyz'],
    ['<td>a</td><td>b</td>', 'a b'],
    ['a<script>var x = "<p>no</p>"</script>b', 'ab'],
    ['a<style>p {}</style>b', 'ab'],
    ['<noscript>seen</noscript>', 'seen'],
    ['a<template><p>inert <a href=x>l</a></template>b', 'ab'],
    ['<template shadowrootmode=open>shown</template>', 'shown'],
    ['<div hidden>a<div>b</div>c</div>d', 'd'],
    ['<div hidden=until-found>a</div>', 'a'],
    ['<span style="color: red; display:none">a</span>b', 'b'],
    ['<select><option>a<option>b</select>c', 'c'],
    ['<textarea>typed</textarea>a', 'a'],
    ['<title>t</title>a', 'a'],
    ['<svg><title>drawing</title><text>label</text></svg>a', 'labela'],
    ['&lt;b&gt; &amp; &eacute; &#8212; &nbsp;x', '<b> & é — x'],
    ['<!-- no --><p>yes', 'yes'],
    ['a<iframe>fallback</iframe>b', 'ab'],
    ['<ul><li>a<li>b</ul>', 'a\nb'],
    [
      'a <b>  piece of more than forty bytes with spaces in front</b>',
      'a piece of more than forty bytes with spaces in front',
    ],
    ['a</b never ends, ü', 'a'],
    ['a<br/', 'a'],
    ['a</', 'a</'],
  ];
  for (const [view, expected] of cases) assert.equal(text(view), expected, view);
});

test('links of all kinds, with what is said of them', () => {
  const cases: readonly (readonly [view: string, links: readonly string[]])[] = [
    ['<a href=/a>one <b>two</b></a>', ['a /a one two -']],
    ['<a href=/a rel="NoFollow  ugc">x', ['a /a x nofollow ugc']],
    ['<a href=/a>x<a href=/b>y', ['a /a x -', 'a /b y -']],
    ['<a href=/a><img src=i.png alt="the picture"></a>', ['a /a the picture -', 'img i.png - -']],
    ['<a href=" /a&amp;b ">x</a>', ['a /a&b x -']],
    ['<a href="#top">x</a><a href="">y</a><a name=z>z</a>', []],
    ['<a href="javascript:void(0)">x</a><img src="data:image/gif;base64,R0">', []],
    ['<a href="mailto:a@b.c">m</a>', ['a mailto:a@b.c m -']],
    ['<area href=/m alt=map>', ['area /m map -']],
    ['<link rel=stylesheet href=s.css>', ['style s.css - stylesheet']],
    ['<link rel="alternate" type="application/rss+xml" href=f>', ['feed f - alternate']],
    ['<link rel="alternate" hreflang=de href=/de>', ['alternate /de - alternate']],
    ['<link rel="alternate" type="application/json+oembed" href=o>', ['media o - alternate']],
    [
      '<link rel=canonical href=c><link rel=amphtml href=m>',
      ['canonical c - canonical', 'amphtml m - amphtml'],
    ],
    ['<link rel=next href=n><link rel=previous href=p>', ['next n - next', 'prev p - previous']],
    ['<link rel="shortcut icon" href=i><link rel=dns-prefetch href=//x>', ['img i - shortcut icon']],
    ['<link rel=license href=l>', ['link l - license']],
    [
      '<img src=a srcset="b 1x, c,d 2x" data-src=e>',
      ['img a - -', 'img e - -', 'srcset b - -', 'srcset c,d - -'],
    ],
    ['<picture><source srcset="w.webp"><img src=j></picture>', ['srcset w.webp - -', 'img j - -']],
    ['<iframe src=f></iframe><frame src=g>', ['iframe f - -', 'frame g - -']],
    ['<script src=s></script><form action=t></form>', ['script s - -', 'form t - -']],
    ['<video src=v poster=p><track src=t></video>', ['img p - -', 'media v - -', 'media t - -']],
    ['<embed src=e><object data=o></object>', ['embed e - -', 'embed o - -']],
    ['<p style="background: url(\'b.png\')">', ['css b.png - -']],
    ['<style>@import "a.css"; p {background: url(b.png)}</style>', ['css a.css - -', 'css b.png - -']],
    ['<svg><a xlink:href=/s>x</a><image href=i /></svg>', ['a /s x -', 'img i - -']],
    ['<A HREF=/upper>x</A>', ['a /upper x -']],
    ['<x-card href=/no>', []],
  ];
  for (const [view, expected] of cases) assert.deepEqual(links(view), expected, view);
});

test('the head of a page', () => {
  const facts = read(
    `<html lang="de-AT"><head><base href="/b/"><base href="/c/"><title>One &amp; two</title><title>3</title>
     <meta name="Description" content="d"><meta property="og:title" content="t">
     <meta http-equiv=refresh content="3; url=/next"></head><h1>A <b>b</b></h1><h2>C<p>x`,
  );
  assert.equal(facts.title, 'One & two');
  assert.equal(facts.lang, 'de-AT');
  assert.equal(facts.base, '/b/');
  assert.deepEqual(facts.metas, [
    {key: 'description', content: 'd'},
    {key: 'og:title', content: 't'},
  ]);
  assert.deepEqual(facts.refresh, {seconds: 3, url: '/next'});
  assert.deepEqual(facts.headings, [
    {level: 1, text: 'A b'},
    {level: 2, text: 'C'},
  ]);
});

test('links beyond the limit are counted, text beyond the limit is told', () => {
  const facts = read('<a href=x>y</a>'.repeat(10), 4);
  assert.equal(facts.links.length, 4);
  assert.equal(facts.linksCut, 6);
  assert.equal(read('x '.repeat(60_000)).text.cut, true);
  assert.equal(read('x').text.cut, false);
});

test('white space of all scripts is folded alike over bytes and over text', () => {
  const limits = {maxText: 1 << 20, maxAnchor: 200, maxLinks: 10};
  for (const page of [
    'a\u00a0&nbsp; b<p>\u3000\u2003 c \ufeff</p>\u2003d\u2003\u2003e<br> <br>f',
    `<p>${'long line, \u00e9t\u00e9 '.repeat(20)}<a href=x> ${'\u{1f600} '.repeat(30)}</a> <b> x</b>`,
    `<h2>${'wide '.repeat(30)}<br>\n\t${'B '.repeat(40)}</h2><td>1</td><td>2</td>`,
    `<a href=x>${' \n'.repeat(900)}last<br>words</a>`,
    'x</',
  ]) {
    const fast = readHtml(markupOfBytes(Buffer.from(page), false), limits);
    assert.deepEqual(fast, readHtml({...markupOfText(page, false), plain: true}, limits), page);
  }
  assert.deepEqual(links(`<a href=x>${' \n'.repeat(900)}last<br>words</a>`), ['a x last words -']);
});

test('headings, titles, metas and anchors are cut to their bounds, no character in half', () => {
  const letters = `x${'😀'.repeat(6000)}`;
  const {title, metas, headings, links} = read(
    `<title>${letters}</title><meta name=a content="${letters}"><h1>${'<b>x</b>😀'.repeat(90_000)}</h1>
     <h2>${letters}</h2><a href=x>${letters}</a>`,
  );
  const cut = `x${'😀'.repeat(4999)}`;
  assert.deepEqual([title, metas[0]?.content, headings[1]?.text], [cut, cut, cut]);
  assert.ok(headings[0]!.text.length <= 10_000);
  assert.equal(links[0]?.anchor, `x${'😀'.repeat(99)}`);
});

test('URLs of style sheets', () => {
  assert.deepEqual(
    cssUrls(`/* url(no) */ a{b:url( "x y" )} @import 'i'; c{content:"url(no)"} d{e:url(\\66 oo)}`),
    ['x y', 'i', 'foo'],
  );
});

test('candidates of a srcset', () => {
  assert.deepEqual(srcsetUrls(' a 1x, b (x,y) 2x,,c , '), ['a', 'b', 'c']);
});

/** Longer than any limit of text, and no text: what follows is read in the plain way. */
const large = `<!--${'x'.repeat(4 << 20)}-->`;
const words = 'z'.repeat(3 << 20);
const entry = `<a href=x>name</a>${' '.repeat(30)}2026-01-01  12345678\n`;

/** Inputs that a quadratic reader takes minutes or hours for. */
const hostile: Readonly<Record<string, string>> = {
  'a million links': '<a href=x>y'.repeat(1_000_000),
  'a million nested elements': '<div>'.repeat(1_000_000),
  'a million nested hidden elements': '<div hidden>'.repeat(1_000_000),
  'a million attributes': `<a ${'b=c '.repeat(1_000_000)}href=x>`,
  'a title of 5 MB': `<title>${'x '.repeat(2_500_000)}</title>`,
  'two million entities': '&amp;'.repeat(2_000_000),
  'line breaks in a heading with words': `<h1>${'word '.repeat(1998)}${'<br>'.repeat(300_000)}`,
  'line breaks in a link with words': `<a href=x>${'w '.repeat(4998)}x${'<br>'.repeat(300_000)}`,
  'a directory of 70,000 lines': `<pre>${entry.repeat(70_000)}`,
  'many links in a long block': `${large}${words}${'<a href=x>y</a> '.repeat(300_000)}`,
  'many pictures in a link in a long block': `${large}${words}<a href=x>${'y<img>'.repeat(300_000)}`,
  'a million line breaks in a link': `<a href=x>${'<br>'.repeat(1_000_000)}`,
  'a million open headings': '<h1>x'.repeat(1_000_000),
  'a million comments that never end': '<!--'.repeat(1_000_000),
  'escaped quotes in a style sheet': `<style>url( ${'\\"'.repeat(1_000_000)}</style>`,
  'commas in a srcset': `<img srcset="a${','.repeat(5_000_000)}b">`,
  'many metas': '<meta name=a content=b>'.repeat(300_000),
  'a million templates': '<template>'.repeat(1_000_000),
};
for (const [name, view] of Object.entries(hostile))
  test(`${name}: read in linear time`, () => {
    const limits = {maxText: 4 << 20, maxAnchor: 2500, maxLinks: 300_000};
    const readIt = (): HtmlFacts => readHtml(markupOfBytes(Buffer.from(view), false), limits);
    const facts = withinTime(60_000, readIt);
    assert.ok(facts.links.length <= 300_000);
  });
