import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {test} from 'node:test';
import {decodeBody} from '../../lib/parse/body.ts';
import {findCharset, transportEncoding} from '../../lib/parse/charset.ts';
import {decoderOf} from '../../lib/parse/decode.ts';
import {encodingOf} from '../../lib/parse/encoding-labels.ts';
import {parseMetaRefresh} from '../../lib/parse/meta-refresh.ts';
import {contentTypeOf} from '../../lib/parse/mime.ts';
import {sniff} from '../../lib/parse/sniff.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';

interface Vectors<C> {
  readonly cases: readonly C[];
}
function vectors<C>(name: string): readonly C[] {
  // The corpus' own format: see its README.
  return (JSON.parse(readFileSync(corpus(`vectors/${name}`)!, 'utf8')) as Vectors<C>).cases;
}

test('Content-Type lines give the type and encoding of the Fetch standard', {
  skip: withoutCorpus('vectors/content-type.json'),
}, () => {
  for (const {headers, type, encoding} of vectors<{
    headers: string[];
    type: string | null;
    encoding: string | null;
  }>('content-type.json')) {
    const found = contentTypeOf(headers);
    assert.equal(found?.essence ?? null, type, JSON.stringify(headers));
    assert.equal(transportEncoding(found?.charset) ?? null, encoding, JSON.stringify(headers));
  }
});

test('first bytes give the type of the MIME Sniffing standard', {
  skip: withoutCorpus('vectors/mime-sniff.json'),
}, () => {
  for (const {name, type, hex} of vectors<{name: string; type: string; hex: string}>('mime-sniff.json'))
    assert.equal(sniff(Buffer.from(hex, 'hex')), type, name);
});

test('meta refresh is read as the HTML standard reads it', {
  skip: withoutCorpus('vectors/meta-refresh.json'),
}, () => {
  for (const {content, valid, time, url} of vectors<{
    content: string;
    valid: boolean;
    time: number | null;
    url: string | null;
  }>('meta-refresh.json')) {
    const found = parseMetaRefresh(content);
    assert.equal(found !== undefined, valid, JSON.stringify(content));
    if (valid) assert.deepEqual(found, {seconds: time, url}, JSON.stringify(content));
  }
});

const limits = {maxBytes: 1 << 20, maxRatio: 200};

test('gzip files, good and damaged, give what can be read', {skip: withoutCorpus('http/gzip')}, () => {
  const root = corpus('http/gzip')!;
  const results: Record<string, [length: number, truncated: boolean]> = {};
  for (const folder of readdirSync(root))
    for (const file of readdirSync(`${root}/${folder}`)) {
      if (!file.endsWith('.gz')) continue;
      const body = decodeBody(readFileSync(`${root}/${folder}/${file}`), 'gzip', limits);
      results[`${folder}/${file}`] = [body.bytes.length, body.truncated];
    }
  assert.deepEqual(results['jsoup/gzip.html.gz'], [63, false]);
  assert.deepEqual(results['webarchive-commons/hi-2.gz'], [6, false]);
  assert.deepEqual(results['webarchive-commons/empty.gz'], [0, false]);
  assert.deepEqual(results['jwat/three-files.gz'], [1457, false]);
  // The second of three members is broken: what comes before it was read.
  assert.deepEqual(results['jwat/invalid-entries.gz']?.[1], true);
  assert.ok(results['jwat/invalid-entries.gz']![0] > 0);
  // Not gzip at all, whatever the name says: taken as it is.
  assert.deepEqual(results['jsoup/fake-gzip.html.gz'], [73, false]);
});

interface ExpectedCharset {
  file: string;
  whatwg?: string;
  declared: string | null;
  valid_utf8: boolean;
}

/** The corpus found its hint by a simple pattern, in a script or the text; the page's own meta says otherwise. */
const otherMeta: Readonly<Record<string, string>> = {
  'real-pages/_wka_na_dziesi_tej_._Jak_pomaga____eby_nie_zaszkodzi____PORADNIK_W_PIGU_CE_.html': 'iso-8859-2',
  'real-pages/archive.org.he.xinhuanet.com.25340717.html': 'gbk',
};

test('every declared file is read in the encoding that a browser would use', {
  skip: withoutCorpus('charset/EXPECTED.json'),
}, () => {
  const wrong: string[] = [];
  const undeclared = {right: 0, all: 0};
  for (const {file, whatwg, declared} of JSON.parse(
    readFileSync(corpus('charset/EXPECTED.json')!, 'utf8'),
  ) as ExpectedCharset[]) {
    const bytes = readFileSync(corpus(`charset/${file}`)!);
    const xml = file.endsWith('.xml');
    const {encoding, source, bom} = findCharset(bytes, {
      syntax: xml ? 'xml' : 'html',
      fallback: 'windows-1252',
    });
    const text = decoderOf(encoding).decode(bytes.subarray(bom));
    assert.ok(text.length > 0 || bytes.length === 0, file);
    if (declared !== null) {
      const expected = otherMeta[file] ?? whatwg ?? encodingOf(declared);
      if (expected !== undefined && encoding !== expected)
        wrong.push(`${file}: ${encoding} by ${source}, expected ${expected} (${declared})`);
    } else if (whatwg !== undefined) {
      undeclared.all++;
      if (encoding === whatwg) undeclared.right++;
    }
  }
  assert.deepEqual(wrong, []);
  // Nothing but a guess can find these; 59 of 71 when the detector was chosen.
  assert.ok(undeclared.right >= 55, `${undeclared.right} of ${undeclared.all} undeclared files`);
});

test('html5lib’s cases of the prescan', {skip: withoutCorpus('charset/html5lib-tests1.dat')}, () => {
  for (const name of ['html5lib-tests1.dat', 'html5lib-yahoo-jp.dat']) {
    const text = readFileSync(corpus(`charset/${name}`)!, 'latin1');
    let cases = 0;
    for (const [, data, label] of text.matchAll(/#data\n([\s\S]*?)\n#encoding\n([^\n]*)/g)) {
      cases++;
      const {encoding} = findCharset(Buffer.from(data!, 'latin1'), {
        syntax: 'html',
        fallback: 'windows-1252',
      });
      assert.equal(encoding, encodingOf(label!), data);
    }
    assert.ok(cases > 0);
  }
});
