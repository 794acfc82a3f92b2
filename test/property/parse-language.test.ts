import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {eld} from 'eld/extrasmall';
import fc from 'fast-check';
import {loadLanguageModel} from '../../lib/parse/language-model.ts';
import {scoreLanguage} from '../../lib/parse/language-score.ts';

const model = await loadLanguageModel();

/** What the package itself says. */
function plain(text: string): string | null {
  const found = eld.detect(text);
  return found.isReliable() ? found.language : null;
}

/** The package's data as its own module has it. */
const {ngramsData} = (await import(
  new URL('../ngrams/extrasmall.js', import.meta.resolve('eld/extrasmall')).href
)) as {
  ngramsData: {
    languages: Record<string, string>;
    ngrams: Record<string, Record<string, number>>;
  };
};

test('the model has every language, n-gram and score of the package', () => {
  assert.deepEqual(model.languages, Object.values(ngramsData.languages));
  assert.equal(model.places.size, Object.keys(ngramsData.ngrams).length);
  for (const [ngram, scores] of Object.entries(ngramsData.ngrams)) {
    const six = Buffer.alloc(6);
    six.write(ngram, 'latin1');
    const place = model.places.get(six.readInt32LE(0), six.readUInt16LE(4));
    assert.notEqual(place, -1, ngram);
    const pairs = [...model.scores.subarray(place + 1, place + 1 + 2 * model.scores[place]!)];
    assert.deepEqual(
      pairs,
      Object.entries(scores).flatMap(([language, score]) => [Number(language), score]),
      ngram,
    );
  }
});

test('texts in many scripts get the answer of the package', () => {
  const texts = [
    'The quick brown fox jumps over the lazy dog, and nobody has ever asked it why.',
    'Wer reitet so spät durch Nacht und Wind? Es ist der Vater mit seinem Kind.',
    'Aujourd’hui, maman est morte. Ou peut-être hier, je ne sais pas.',
    "L'amor che move il sole e l'altre stelle, quest'è l'ora de l'amor",
    'Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.',
    '吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。',
    '天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。寒来暑往，秋收冬藏。',
    'في يوم من الأيام كان هناك ملك يحكم مدينة كبيرة',
    'İSTANBUL ve IĞDIR arasında uzun bir yol vardır, çok uzun bir yol.',
    '😀 emoji 😀 and \ud800 halves of them, 12345 numbers 67890, e-mail@example.org',
    'a b c d e',
    '',
    `${'x'.repeat(100)} ${'ü'.repeat(200)}`,
    'wort '.repeat(100),
    `${'ab '.repeat(116)}cdéfgh`,
  ];
  for (const text of texts) assert.equal(scoreLanguage(text, model), plain(text), text);
});

test('so do texts made of anything', () => {
  const letters = fc.constantFrom(
    ..."abcdeéüßøжщяあ漢字עברית عرب’'` .,-0189\u0307\u{1f600}\ud83dİẞ".split(''),
  );
  const words = fc.string({unit: letters, maxLength: 500});
  fc.assert(
    fc.property(fc.oneof(words, fc.string({unit: 'binary', maxLength: 500})), (text) => {
      assert.equal(scoreLanguage(text, model), plain(text));
    }),
    {numRuns: 1500},
  );
});

test('and pieces of real prose in any length', () => {
  const prose = ['README.md', 'docs/architecture.md', 'docs/parse.md', 'LICENSE']
    .map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
    .join('\n');
  fc.assert(
    fc.property(fc.nat(prose.length), fc.nat(500), (from, length) => {
      const text = prose.slice(from, from + length);
      assert.equal(scoreLanguage(text, model), plain(text));
    }),
    {numRuns: 1500},
  );
});
