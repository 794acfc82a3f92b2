import {
  actionOf,
  familyRules,
  type ListedFamily,
  listFamilies,
  listRefusals,
} from '../../jobs/family-rules.ts';
import {CrawlError} from '../../lib/errors.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {jsonValue, tableText} from '../output.ts';
import {visible} from '../words.ts';

export const command = defineCommand({
  name: familyRules.name,
  summary: familyRules.summary,
  details: [
    'A family is what one program behind a site makes: URLs that differ in numbers, words or tokens only. One that goes on',
    'without new content is quarantined: its URLs are neither added nor selected, but for a few that are tried again after',
    'traps.probe. Without options: the families that are quarantined or have a rule by hand; with a URL, those of the URL.',
    '--refused: what updatedb did not add (trap, over_budget, low_yield and others), by host, family and reason.',
  ].join('\n'),
  examples: [
    ['crawl traps', 'what is quarantined, and why'],
    ['crawl traps --refused', 'families whose URLs were not added'],
    ['crawl traps "http://shop.example.org/list?page=7"', 'the families of a URL'],
    ['crawl traps "http://shop.example.org/list?page=7" --release', 'fetch them all the same'],
    ['crawl traps "http://shop.example.org/print/7" --block --note "copies"', 'ask for no more of them'],
  ],
  options: {
    ...without(familyRules.options, 'url'),
    refused: {
      kind: 'flag',
      default: false,
      doc: 'The 100 families with most URLs that updatedb did not add, and why.',
    },
    ...dryRunOption,
  },
  positionals: [{name: 'URL', doc: 'A URL of the family, or "PLACE PATTERN".'}],
  async run({options, positionals}, context) {
    const {dryRun: planOnly, refused, ...change} = options;
    const url = positionals[0];
    if (refused) {
      if (actionOf(change) !== null)
        throw new CrawlError(
          'USAGE',
          '--refused only shows: it goes with none of --release, --block, --clear',
        );
      const {dir, config} = await context.crawl();
      const rows = await listRefusals(url, {dir, config, signal: context.effects.signal});
      if (context.globals.json)
        for (const row of rows) await context.out.line(JSON.stringify(jsonValue(row)));
      else if (rows.length === 0) context.say('updatedb has refused nothing, as far as is kept');
      else await context.out.write(tableText(context.out.colours, Object.keys(rows[0]!), rows));
      return undefined;
    }
    if (actionOf(change) === null) {
      const {dir, config} = await context.crawl();
      const rows = await listFamilies(url, {dir, config, signal: context.effects.signal});
      if (context.globals.json)
        for (const row of rows) await context.out.line(JSON.stringify(jsonValue(row)));
      else if (rows.length === 0)
        context.say(
          url === undefined ? 'no family is quarantined' : 'no page of its families was fetched yet',
        );
      else await context.out.write(tableText(context.out.colours, columns, rows.map(cells)));
      return undefined;
    }
    const report = await context.runJob(
      familyRules,
      {...change, url},
      {...dryRun(context, planOnly), terse: true},
    );
    const set = report.facts[0] as {action: string; families: string[]} | undefined; // of the job's task
    const done = {release: 'released', block: 'blocked', clear: 'no rule by hand any more'}[
      set?.action ?? 'clear'
    ];
    await close(
      context,
      report,
      (set?.families ?? []).map(
        (family) => `${visible(family)}: ${done}; next generate and updatedb keep to it`,
      ),
    );
    return undefined;
  },
});

const columns = ['place', 'pattern', 'state', 'pages', 'new', 'refused', 'rule', 'example'];

function cells(row: ListedFamily): Record<string, unknown> {
  return {
    place: row.place,
    pattern: row.pattern,
    state: row.state === 'quarantined' ? `quarantined, ${row.verdict}` : row.state,
    pages: row.pages,
    new: row.novel,
    refused: row.refused,
    rule: row.rule,
    example: row.example,
  };
}
