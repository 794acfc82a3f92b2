import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {test} from 'node:test';
import {dataDictionary} from '../../lib/schema/dictionary.ts';
import {reasonNames} from '../../lib/schema/reason.ts';
import type {Table} from '../../lib/schema/table.ts';
import {tables} from '../../lib/schema/tables.ts';

test('docs/data-dictionary.md is what the declarations say: npx tsx test/support/write-data-dictionary.ts', async () => {
  const text = await readFile(new URL('../../docs/data-dictionary.md', import.meta.url), 'utf8');
  assert.equal(text, dataDictionary(Object.values(tables)));
});

test('it has every table, column and closed list', () => {
  const text = dataDictionary(Object.values(tables));
  for (const [name, table] of Object.entries(tables) as [string, Table][]) {
    assert.match(text, new RegExp(`^## ${name}$`, 'm'));
    for (const column of Object.keys(table.columns)) assert.ok(text.includes(`| \`${column}\` |`), column);
  }
  for (const reason of reasonNames) assert.ok(text.includes(`\`${reason}\``), reason);
});

test('declarations hold what readers rely on', () => {
  for (const [name, table] of Object.entries(tables) as [string, Table][]) {
    assert.equal(table.name, name);
    for (const column of table.key) assert.ok(table.columns[column] !== undefined, `${name}.${column}`);
    let since = 1;
    for (const [column, facts] of Object.entries(table.columns)) {
      assert.ok((facts.since ?? 1) >= since, `${name}.${column} is newer than the columns after it`);
      since = facts.since ?? 1;
      assert.ok(since === 1 || facts.nullable, `${name}.${column} was added and is not nullable`);
      assert.ok(since <= table.version, `${name}.${column} is newer than its table`);
      assert.match(facts.doc, /[.)]$/, `${name}.${column}: the sentence has no end`);
    }
  }
});
