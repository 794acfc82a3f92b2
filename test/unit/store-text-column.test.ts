import assert from 'node:assert/strict';
import {test} from 'node:test';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {TextColumn} from '../../lib/store/text-column.ts';

const column = () => new TextColumn({table: 'outlinks', name: 'to_url', nullable: false});

test('URLs out of pages keep no page in memory while a row group is filled', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const pages = 300;
  const pageLength = 100_000;
  const texts = column();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let page = 0; page < pages; page++) {
    const markup = Buffer.alloc(pageLength, `<a href=http://site.test/dir/${page}.html>`).toString('latin1');
    texts.add([{to_url: markup.slice(8, 40)}]);
  }
  collect();
  const held = process.memoryUsage().heapUsed - before;
  assert.ok(held < (pages * pageLength) / 10, `${held} bytes are held`);
  assert.equal(texts.chunk().pages[0]!.rows, pages);
});

test('a lone surrogate and the character that stands for it in a file are two entries of a dictionary', () => {
  const texts = column();
  const values = ['\ufffd alone', '\ud800 alone', 'another', '\ufffd alone', '\ud800 alone', 'another'];
  // Often enough that a dictionary pays.
  for (let time = 0; time < 20; time++) texts.add(values.map((to_url) => ({to_url})));
  const {dictionary, pages} = texts.chunk();
  assert.equal(dictionary?.values, 3);
  const {values: places} = pages[0]!;
  assert.ok('places' in places);
  assert.deepEqual([...places.places.slice(0, 6)], [0, 1, 2, 0, 1, 2]);
});
