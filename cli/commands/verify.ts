import {verifyCrawl} from '../../jobs/verify.ts';
import {defineCommand} from '../command.ts';
import {exitCodes} from '../exit-codes.ts';
import {writeRows} from '../output.ts';
import {progressBar} from '../progress.ts';
import {bytes, counted} from '../words.ts';

export const command = defineCommand({
  name: 'verify',
  summary: 'Compare all files of the crawl with what was written.',
  details: [
    'Reads every file that the newest manifest names and compares its size and SHA-256 with those that its writer noted;',
    'the manifests themselves by the hashes with which they name each other. Changes nothing and takes no lock. Each',
    'file that is not as it was is a row, and the exit code is 6. Journals of unfinished fetches are not covered.',
  ].join('\n'),
  examples: [
    ['crawl verify', 'all of the crawl'],
    ['crawl verify --quick', 'only whether files are there, and their sizes'],
    ['crawl verify -C /backup/news', 'a copy'],
  ],
  options: {
    quick: {kind: 'flag', default: false, doc: 'Sizes alone, without reading the files.'},
    asOf: {kind: 'count', doc: 'Number of an older manifest to look at.'},
  },
  positionals: [{name: 'SEGMENT', doc: 'Only files of these segments.', many: true}],
  async run({options, positionals}, context) {
    const {effects, globals, io, out} = context;
    const {dir} = await context.crawl();
    const shown = io.stderr.isTTY === true && !globals.quiet && !globals.json;
    const bar = shown ? progressBar('verify', io.stderr, effects.monotonic) : undefined;
    const {findings, ...looked} = await verifyCrawl({
      dir,
      ...options,
      segments: positionals,
      effects,
      progress: (point) => bar?.report(point),
    }).finally(() => bar?.stop());
    if (globals.json) await out.line(JSON.stringify({...looked, findings}));
    else {
      if (findings.length > 0) await writeRows(out, 'table', ['file', 'finding', 'detail'], [findings]);
      const all = `${counted(looked.files, 'file')}, ${bytes(looked.bytes)}`;
      context.say(
        findings.length === 0
          ? `${all}: all ${options.quick ? 'have their size' : 'as written'}`
          : `${all}: ${counted(findings.length, 'finding')}; take these files from a copy, or crawl rollback, or crawl drop their segments`,
      );
    }
    return findings.length === 0 ? undefined : exitCodes.findings;
  },
});
