import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import fc from 'fast-check';
import {parseSitemap} from '../../lib/sitemap/parse.ts';
import {maxProblems} from '../../lib/sitemap/sitemap.ts';
import {type Position, readXml} from '../../lib/sitemap/xml.ts';
import {corpus} from '../support/corpora.ts';

const url = 'https://example.com/s/sitemap.xml';

/** What holds for every answer, whatever went in. */
function assertSound(bytes: Uint8Array): void {
  const sitemap = parseSitemap(bytes, {url, maxBytes: 100_000, maxEntries: 50});
  assert.ok(sitemap.entries.length <= 50);
  assert.ok(sitemap.problems.length <= maxProblems && sitemap.problemCount >= sitemap.problems.length);
  for (const {loc, priority, lastmod, images, position} of sitemap.entries) {
    for (const link of [loc, ...images]) assert.match(link, /^https?:\/\//);
    assert.ok(priority === null || (priority >= 0 && priority <= 1));
    assert.ok(lastmod === null || !Number.isNaN(lastmod.getTime()));
    assert.ok(position.line >= 1 && position.column >= 1);
  }
}

const fragment = fc.constantFrom(
  '<urlset>', '</urlset>', '<url>', '</url>', '<loc>', '</loc>', 'https://e.com/a', '&', '&amp;', '&#0;', '&#x110000;',
  '<![CDATA[', ']]>', '<!--', '-->', '<?xml version="1.0"?>', '<?', '?>', '<!DOCTYPE a [', ']>', '<', '>', '"', "'", '=',
  ' a="', '/>', '<rss>', '<item>', '</item>', '<link>', '<feed>', '<entry>', '<link href="', '\n', '\r', '\0', '{"items":[', '\u00E9',
); // biome-ignore format: a list of words

test('any bytes are a sitemap', () => {
  fc.assert(fc.property(fc.uint8Array({maxLength: 200}), assertSound), {numRuns: 500});
  fc.assert(
    fc.property(fc.array(fragment, {maxLength: 30}), fc.boolean(), (parts, pack) => {
      const bytes = Buffer.from(parts.join(''));
      assertSound(pack ? gzipSync(bytes) : bytes);
    }),
    {numRuns: 3000},
  );
});

function filesBelow(folder: string): Buffer[] {
  const path = corpus(folder);
  if (path === undefined) return [Buffer.from('<urlset><url><loc>https://e.com/a</loc></url></urlset>')];
  return readdirSync(path, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile() && entry.name !== 'INDEX.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).subarray(0, 20_000));
}

test('files of the corpora with bytes changed and cut', () => {
  const samples = [...filesBelow('sitemaps'), ...filesBelow('feeds')];
  const change = fc.tuple(fc.double({min: 0, max: 0.999, noNaN: true}), fc.nat(255));
  fc.assert(
    fc.property(
      fc.nat(samples.length - 1),
      fc.array(change, {maxLength: 10}),
      fc.boolean(),
      (index, changes, cut) => {
        let bytes = Buffer.from(samples[index]!);
        for (const [at, byte] of changes) bytes[Math.floor(at * bytes.length)] = byte;
        if (cut && changes.length > 0) bytes = bytes.subarray(0, Math.floor(changes[0]![0] * bytes.length));
        assertSound(bytes);
      },
    ),
    {numRuns: 1000},
  );
});

/** What a reader sees: opens and closes are paired whatever the text, so that stacks hold. */
test('every element that opens closes, but those open at the end', () => {
  fc.assert(
    fc.property(fc.array(fragment, {maxLength: 40}), (parts) => {
      let depth = 0;
      let last: Position = {line: 1, column: 1};
      readXml(
        parts.join(''),
        {
          open({position}) {
            depth++;
            const isLater =
              position.line > last.line || (position.line === last.line && position.column >= last.column);
            assert.ok(isLater, 'positions do not go back');
            last = position;
          },
          text() {
            assert.ok(depth > 0);
          },
          close() {
            depth--;
            assert.ok(depth >= 0);
          },
          done: false,
        },
        () => {},
      );
    }),
    {numRuns: 2000},
  );
});

/**
 * Work is counted in characters handed on and events, on texts made to be searched again and again. Twice the
 * text may give twice the events, and no search may be repeated: an endless one would not end this test.
 */
test('texts without ends are read once', () => {
  const units = [
    '<',
    '<a',
    '<a ',
    '<a x="',
    "<a x='",
    '<a x="<a x=\'',
    '</a',
    '<!--',
    '<![CDATA[',
    '<?',
    '<!',
    '&',
    '&#',
    '<a>',
    '</a>',
    '<url><loc>x',
    'x',
  ];
  for (const unit of units) {
    const count = (n: number) => {
      let work = 0;
      readXml(
        '<r>' + unit.repeat(n),
        {open: () => work++, text: (text) => (work += text.length), close: () => work++, done: false},
        () => work++,
      );
      return work;
    };
    const small = count(50_000);
    const large = count(100_000);
    assert.ok(large <= 2.2 * small + 10, `${unit}: ${small} became ${large}`);
  }
});
