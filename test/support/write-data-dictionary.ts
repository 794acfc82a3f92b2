import {writeFileSync} from 'node:fs';
import {dataDictionary} from '../../lib/schema/dictionary.ts';
import {tables} from '../../lib/schema/tables.ts';

/** Writes docs/data-dictionary.md: `npx tsx test/support/write-data-dictionary.ts`. */
const file = new URL('../../docs/data-dictionary.md', import.meta.url);
writeFileSync(file, dataDictionary(Object.values(tables)));
