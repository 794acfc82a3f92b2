import {CrawlError} from '../lib/errors.ts';
import {type FamilyRow, type FamilyRuleRow, families, familyrules} from '../lib/schema/families.ts';
import type {Reason} from '../lib/schema/reason.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import {type Family, familiesOf, familyKey} from '../lib/traps/family.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {openReader, type ReadSettings} from './read/crawl.ts';
import {defineUrlFamily} from './read/families.ts';

const options = {
  url: {kind: 'text', doc: 'A URL of the family, or its place and pattern with a space between.'},
  release: {
    kind: 'flag',
    default: false,
    doc: 'Never quarantine the families of the URL that are closed now, or the narrowest where none is.',
  },
  block: {
    kind: 'flag',
    default: false,
    doc: 'Close the narrowest family of the URL: nothing of it is added or selected.',
  },
  clear: {kind: 'flag', default: false, doc: 'Take back what was said by hand about its families.'},
  note: {kind: 'text', doc: 'Why, for the next person.'},
} as const;

type FamilyAction = 'release' | 'block' | 'clear';

/**
 * Families of URLs released or blocked by hand. Needs no lock: of two at once the later one is planned again. The next
 * generate and updatedb keep to it.
 */
export const familyRules = defineJob({
  name: 'traps',
  summary: 'Show families of URLs that are quarantined as traps; release or block them.',
  options,
  locks: () => [],

  async plan(given, effects) {
    const {snapshot, store} = effects;
    const action = actionOf(given);
    if (action === null) throw new CrawlError('USAGE', 'say --release, --block or --clear');
    const inputs = await snapshot.files('familyrules');
    const named = familiesNamed(given.url ?? '');
    const closed = new Set<string>();
    for (const file of await snapshot.files('families'))
      for await (const rows of readTable(families, store.path(file)))
        for (const row of rows) if (row.state === 'quarantined') closed.add(familyKey(row));
    const now = effects.now();
    return {
      base: snapshot.manifest.number,
      now,
      tasks: [
        {
          stage: 0,
          part: 0,
          inputs,
          params: {action, families: chosen(named, closed, action), note: given.note ?? null, now},
        },
      ],
    };
  },

  run: writeRules,

  next(_plan, _stage, results) {
    return {
      edit: {reads: ['familyrules', 'families'], writes: {familyrules: results.flatMap(({files}) => files)}},
    };
  },
});

/** What is asked for; null for nothing. Throws USAGE where it contradicts itself. */
export function actionOf(given: {
  readonly release: boolean;
  readonly block: boolean;
  readonly clear: boolean;
}): FamilyAction | null {
  const actions = (['release', 'block', 'clear'] as const).filter((name) => given[name]);
  if (actions.length > 1)
    throw new CrawlError('USAGE', `--${actions[0]} and --${actions[1]} exclude each other`);
  return actions[0] ?? null;
}

/** The families of a URL, or the one written as PLACE PATTERN. */
function familiesNamed(text: string): readonly Family[] {
  const [place = '', pattern = ''] = text.trim().split(/\s+/);
  if (place !== '' && pattern.startsWith('/')) return [{place, pattern}];
  if (!/^https?:\/\/[^/?#]+/i.test(text))
    throw new CrawlError('USAGE', `neither a URL nor a place and a pattern: ${text.slice(0, 200)}`);
  return familiesOf(text.trim());
}

function chosen(
  named: readonly Family[],
  closed: ReadonlySet<string>,
  action: FamilyAction,
): readonly Family[] {
  if (action === 'clear') return named;
  const held = named.filter((family) => closed.has(familyKey(family)));
  return action === 'release' && held.length > 0 ? held : named.slice(0, 1);
}

async function readRules(
  files: readonly FileRef[],
  path: (file: FileRef) => string,
): Promise<Map<string, FamilyRuleRow>> {
  const rules = new Map<string, FamilyRuleRow>();
  for (const file of files)
    for await (const rows of readTable(familyrules, path(file)))
      for (const row of rows) rules.set(familyKey(row), row);
  return rules;
}

async function writeRules(task: Task, ctx: TaskContext): Promise<TaskResult> {
  // made by plan
  const {
    action,
    families: named,
    note,
    now,
  } = task.params as {
    action: FamilyAction;
    families: readonly Family[];
    note: string | null;
    now: number;
  };
  const rules = await readRules(task.inputs, (file) => ctx.store.path(file));
  for (const {place, pattern} of named)
    if (action === 'clear') rules.delete(familyKey({place, pattern}));
    else rules.set(familyKey({place, pattern}), {place, pattern, action, note, changed_time: new Date(now)});
  const result = {counters: {}, reasons: {}, facts: {action, families: named.map(familyKey)}};
  if (rules.size === 0) return {files: [], ...result};
  const file = await ctx.store.create(familyrules, 'hosts/familyrules');
  await file.write([...rules.values()].sort((a, b) => (familyKey(a) < familyKey(b) ? -1 : 1)));
  return {files: [await file.close()], ...result};
}

export interface ListedFamily extends Omit<FamilyRow, 'samples'>, Readonly<Record<string, unknown>> {
  readonly rule: FamilyRuleRow['action'] | null;
  readonly note: string | null;
}

/** Closed families and those with a rule; with a URL all families of it that are known. */
export async function listFamilies(url: string | undefined, settings: ReadSettings): Promise<ListedFamily[]> {
  const named = url === undefined ? null : new Set(familiesNamed(url).map(familyKey));
  const reader = await openReader(settings);
  try {
    const rows = await reader.db.all<ListedFamily>(`
      SELECT
        coalesce(f.place, r.place) AS place, coalesce(f.pattern, r.pattern) AS pattern,
        f.* EXCLUDE (place, pattern, samples), r.action AS rule, r.note
      FROM families f FULL JOIN familyrules r ON r.place = f.place AND r.pattern = f.pattern
      WHERE ${named === null ? `f.state = 'quarantined' OR r.action IS NOT NULL` : 'true'}
      ORDER BY 1, 2`);
    return named === null ? rows : rows.filter((row) => named.has(familyKey(row)));
  } finally {
    await reader.close();
  }
}

/** URLs of a host's family that updatedb did not add, for one reason. */
export interface ListedRefusal extends Readonly<Record<string, unknown>> {
  readonly place: string;
  readonly pattern: string;
  readonly reason: Reason;
  readonly urls: number;
  readonly example: string;
}

/** Families whose URLs were refused most often; a person reads no more (chosen), `crawl sql` has the rest. */
const mostRefusals = 100;

/** What updatedb did not add, by host, narrowest family and reason; with a URL that of its family. */
export async function listRefusals(
  url: string | undefined,
  settings: ReadSettings,
): Promise<ListedRefusal[]> {
  const [named] = url === undefined ? [] : familiesNamed(url);
  const reader = await openReader(settings);
  try {
    await defineUrlFamily(reader.db);
    return await reader.db.all<ListedRefusal>(
      `SELECT
        url_host_name AS place, url_family(url) AS pattern, reason, count(DISTINCT url) AS urls, min(url) AS example
      FROM refusals
      WHERE $place::VARCHAR IS NULL OR url_host_name = $place
      GROUP BY 1, 2, 3
      HAVING $pattern::VARCHAR IS NULL OR pattern = $pattern
      ORDER BY urls DESC, place, pattern, reason LIMIT ${mostRefusals}`,
      {place: named?.place ?? null, pattern: named?.pattern ?? null},
    );
  } finally {
    await reader.close();
  }
}
