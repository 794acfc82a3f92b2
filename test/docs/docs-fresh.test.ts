import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {commands} from '../../cli/commands/index.ts';
import {generatedDocs, root} from '../support/write-docs.ts';

const docs = await generatedDocs();

for (const [path, text] of Object.entries(docs))
  test(`${path} is fresh (node --import tsx test/support/write-docs.ts)`, () => {
    assert.equal(readFileSync(join(root, path), 'utf8'), text);
  });

test('the list of commands says of each what the command says of itself', async () => {
  for (const entry of commands) {
    const {command} = await entry.load();
    assert.deepEqual([command.name, command.summary], [entry.name, entry.summary]);
  }
});

test('each option of each command is in docs/cli.md', async () => {
  const page = docs['docs/cli.md']!;
  for (const entry of commands)
    for (const name of Object.keys((await entry.load()).command.options)) {
      const option = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      assert.match(page, new RegExp(`--(no-)?${option}\\b`), `${entry.name} --${option}`);
    }
});
