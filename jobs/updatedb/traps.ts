import {type FamilyRow, families} from '../../lib/schema/families.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {familyKey} from '../../lib/traps/family.ts';
import {type FirstVisit, foldVisits, keepFamilies} from '../../lib/traps/ledger.ts';
import type {Quarantine} from '../../lib/traps/quarantine.ts';
import {rowsTable} from '../crawldb/writer.ts';
import {readQuarantine} from '../read/quarantine.ts';
import {readSql} from '../runner/sql-file.ts';
import type {Update} from './step.ts';

const sql = readSql(import.meta.url, './traps.sql', [
  'family_visits',
  'families_met',
  'next_families',
  'trap_candidates',
  'trapped',
]);

/**
 * Traps: what the round fetched for the first time goes to the account of its families, those that go on without new
 * content are quarantined, and their new URLs are not added. Makes the table `next_family`, all families as they are now.
 * Memory: the families of the places that the round met, and the round's first visits.
 */
export async function watchFamilies({db, params}: Update): Promise<Quarantine> {
  const {quarantine, min_pages, min_novel, near_bits, probe} = params.config.traps;
  await db.run(sql.family_visits);
  const visits = await db.all<FirstVisit & Readonly<Record<string, unknown>>>(
    'SELECT url, simhash, discovered_from AS "from" FROM family_visit ORDER BY fetch_time, url',
  );
  const known = await db.all<FamilyRow>(sql.families_met);
  const rule = {minPages: min_pages, minNovel: min_novel, nearBits: near_bits, probeMs: probe};
  const after = foldVisits(
    known,
    visits,
    quarantine ? rule : {...rule, minPages: Number.POSITIVE_INFINITY},
    params.now,
  );
  const changed = await rowsTable(db, 'family_changed', families.columns);
  await changed.insert(withKnown(known, after));
  await db.run(sql.next_families);
  return readQuarantine(db, null, 'next_family');
}

/** The families of a place with those that were not met again; of each place as many as are kept. */
function withKnown(known: readonly FamilyRow[], after: readonly FamilyRow[]): FamilyRow[] {
  const met = new Set(after.map(familyKey));
  return keepFamilies([...after, ...known.filter((row) => !met.has(familyKey(row)))]);
}

interface Candidate extends Readonly<Record<string, unknown>> {
  readonly host_key: bigint;
  readonly url_key: bigint;
  readonly url: string;
}

/** New URLs of closed families are refused, and counted with their family. Table `fresh`: URLs not known so far. */
export async function refuseTraps({db}: Update, quarantine: Quarantine): Promise<void> {
  if (quarantine.places.size === 0) return;
  const place = await rowsTable(db, 'closed_place', {place: {type: 'text'}});
  await place.insert([...quarantine.places].map((name) => ({place: name})));
  const refused = await rowsTable(db, 'trapped', {
    host_key: {type: 'key'},
    url_key: {type: 'key'},
    place: {type: 'text'},
    pattern: {type: 'text'},
  });
  for await (const rows of db.stream(sql.trap_candidates)) {
    const closed = (rows as unknown as Candidate[]) // the columns of the query
      .flatMap(({host_key, url_key, url}) => {
        const family = quarantine.closes(url);
        if (family === undefined) return [];
        return [{host_key, url_key, place: family.place, pattern: family.pattern}];
      });
    await refused.insert(closed);
  }
  await db.run(sql.trapped);
}

export async function writeFamilies({db, ctx}: Update): Promise<FileRef> {
  const file = await ctx.store.create(families, 'hosts/families');
  return db.copy('SELECT * FROM next_family ORDER BY place, pattern', {}, file);
}
