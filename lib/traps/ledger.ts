import type {FamilyRow} from '../schema/families.ts';
import {hostOf} from '../url/host.ts';
import {type Family, familiesOf, familyKey} from './family.ts';
import {ageWindow, type FamilyCounts, type JudgeRule, judge, nothingSeen, seePage, without} from './watch.ts';

/** A page that was asked for the first time. */
export interface FirstVisit {
  readonly url: string;
  readonly simhash: bigint | null;
  /** Page that it was found on. */
  readonly from: string | null;
}

export interface TrapRule extends JudgeRule {
  readonly nearBits: number;
  /** Milliseconds until a quarantined family is tried again; it doubles with each trial. */
  readonly probeMs: number;
}

/** Pages of a trial before it is judged. */
const minProbes = 10;
/** Share of new content in a trial that opens a family. */
const opening = 0.5;
/** Families kept of a place: those that most pages were asked of, and all that are or were quarantined. */
const maxFamilies = 200;
/**
 * A family over a domain is about many hosts with few pages each, and one of words about many words: what there is more of
 * has families of its own, and an honest section must not pay for its neighbours.
 */
const manyParts = 20;
const pagesPerPart = 5;

/** The families as they were, with what a round has seen of them. */
export function foldVisits(
  known: readonly FamilyRow[],
  visits: readonly FirstVisit[],
  rule: TrapRule,
  now: number,
): FamilyRow[] {
  const rows = new Map(known.map((row) => [familyKey(row), row]));
  const counts = new Map<string, FamilyCounts>();
  const hosts = new Map<string, Set<string>>();
  const touched = new Map<string, FamilyRow>();
  for (const {url, simhash, from} of visits) {
    const host = hostOf(url);
    const sources = from === null ? [] : familiesOf(from).map(familyKey);
    let narrower: FamilyRow | undefined;
    for (const family of familiesOf(url)) {
      const key = familyKey(family);
      const pagesOfWord = family.ofWords ? (narrower?.pages ?? 0) : 0;
      if (pagesOfWord > pagesPerPart) continue;
      const row = touched.get(key) ?? rows.get(key) ?? newFamily(family, url);
      const words = pagesOfWord === 1 ? 1 : 0;
      narrower = {...row, pages: row.pages + 1, hosts: row.hosts + words, example: url};
      touched.set(key, narrower);
      const inside = sources.includes(key);
      counts.set(key, seePage(counts.get(key) ?? countsOf(row), {simhash, inside}, rule.nearBits));
      if (family.place.startsWith('*.')) hosts.set(key, (hosts.get(key) ?? new Set()).add(host));
    }
  }
  for (const [key, row] of touched)
    touched.set(key, {
      ...row,
      rounds: (row.rounds ?? 0) + 1,
      hosts: row.hosts + (hosts.get(key)?.size ?? 0),
      ...columnsOf(counts.get(key)!),
    });
  return judgeAll([...touched.values()], rule, now);
}

/** Narrow families are judged first; what is put on them does not count against the wider ones they are part of. */
function judgeAll(rows: readonly FamilyRow[], rule: TrapRule, now: number): FamilyRow[] {
  const judged = new Map<string, FamilyRow>();
  const taken: FamilyRow[] = [];
  for (const row of narrowFirst(rows)) {
    const parts = taken.filter((narrow) =>
      familiesOf(narrow.example).some(
        (family) => familyKey(family) === familyKey(row) && !family.ofWords, // which had few pages of it
      ),
    );
    const own = parts.reduce((counts, narrow) => without(counts, countsOf(narrow)), countsOf(row));
    const after = judgeOne({...row, ...columnsOf(own)}, rule, now);
    if (after.state === 'quarantined' && row.state === 'open') taken.push(row);
    judged.set(familyKey(row), after);
  }
  return [...judged.values()];
}

function narrowFirst(rows: readonly FamilyRow[]): FamilyRow[] {
  return rows
    .map((row) => {
      const key = familyKey(row);
      return {row, key, width: familiesOf(row.example).findIndex((family) => familyKey(family) === key)};
    })
    .sort((a, b) => a.width - b.width || compare(a.key, b.key))
    .map(({row}) => row);
}

function judgeOne(row: FamilyRow, rule: TrapRule, now: number): FamilyRow {
  const counts = countsOf(row);
  if (row.state === 'quarantined') return judgeTrial(row, counts, rule, now);
  const ofParts = row.place.startsWith('*.') || isOfWords(row);
  const fewParts = ofParts && (row.hosts < manyParts || row.pages > pagesPerPart * row.hosts);
  const verdict = fewParts ? 'open' : judge(counts, rule, row.rounds ?? 1);
  if (verdict === 'open') return {...row, ...columnsOf(ageWindow(counts, rule.minPages))};
  return {
    ...row,
    ...columnsOf({...nothingSeen, samples: counts.samples}),
    state: 'quarantined',
    rounds: 0,
    verdict,
    state_time: new Date(now),
    probe_time: new Date(now + rule.probeMs),
  };
}

function isOfWords(row: FamilyRow): boolean {
  return familiesOf(row.example).some((family) => family.ofWords && familyKey(family) === familyKey(row));
}

function judgeTrial(row: FamilyRow, counts: FamilyCounts, rule: TrapRule, now: number): FamilyRow {
  if (row.probe_time === null || row.probe_time.getTime() > now || counts.fetched < minProbes) return row;
  const start = columnsOf({...nothingSeen, samples: counts.samples});
  if (counts.novel >= opening * counts.fetched)
    return {
      ...{...row, ...start, state: 'open', verdict: null},
      ...{state_time: new Date(now), probe_time: null, rounds: 0},
    };
  const probes = row.probes + 1;
  return {...row, ...start, probes, probe_time: new Date(now + rule.probeMs * 2 ** Math.min(probes, 10))};
}

/** Of each place the families that matter; the others begin anew when they are met again. */
export function keepFamilies(rows: readonly FamilyRow[]): FamilyRow[] {
  const byPlace = new Map<string, FamilyRow[]>();
  for (const row of rows) {
    const list = byPlace.get(row.place);
    if (list === undefined) byPlace.set(row.place, [row]);
    else list.push(row);
  }
  return [...byPlace.values()].flatMap((list) =>
    list.length <= maxFamilies
      ? list
      : list
          .toSorted(
            (a, b) =>
              Number(b.state_time !== null) - Number(a.state_time !== null) ||
              b.pages - a.pages ||
              compare(a.pattern, b.pattern),
          )
          .filter((row, index) => index < maxFamilies || row.state_time !== null),
  );
}

function newFamily({place, pattern}: Family, example: string): FamilyRow {
  return {
    place,
    pattern,
    example,
    pages: 0,
    ...columnsOf(nothingSeen),
    hosts: 0,
    state: 'open',
    verdict: null,
    state_time: null,
    probe_time: null,
    probes: 0,
    refused: 0,
    rounds: 0,
  };
}

function countsOf(row: FamilyRow): FamilyCounts {
  const {fetched, novel, repeats, inside} = row;
  const view = new DataView(row.samples.buffer, row.samples.byteOffset, row.samples.byteLength);
  const samples = Array.from({length: row.samples.byteLength >> 3}, (_, i) => view.getBigUint64(8 * i, true));
  return {fetched, novel, repeats, inside, samples};
}

function columnsOf({
  samples,
  ...counts
}: FamilyCounts): Pick<FamilyRow, 'fetched' | 'novel' | 'repeats' | 'inside' | 'samples'> {
  const bytes = new Uint8Array(8 * samples.length);
  const view = new DataView(bytes.buffer);
  for (const [i, sample] of samples.entries()) view.setBigUint64(8 * i, sample, true);
  return {...counts, samples: bytes};
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
