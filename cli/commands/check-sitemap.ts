import {readPolicyTexts} from '../../jobs/config/policy-texts.ts';
import type {Effects} from '../../lib/effects.ts';
import {CrawlError} from '../../lib/errors.ts';
import {checkSitemap, type SitemapCheck} from '../../lib/sitemap/check.ts';
import {mayList} from '../../lib/sitemap/host-rule.ts';
import {
  BadQuestion,
  type Checker,
  type CheckSettings,
  optionalBytes,
  optionalText,
  type Question,
  textOf,
} from '../checker.ts';
import {jsonValue} from '../output.ts';
import {counted, visible} from '../words.ts';

/** `crawl check sitemap`: the entries of a sitemap or feed, and what is wrong with it. */
export function sitemapChecker(): Checker {
  return {
    ask(question) {
      const bytes =
        optionalBytes(question, 'sitemap_base64') ?? Buffer.from(textOf(question, 'sitemap'), 'utf8');
      const url = optionalText(question, 'url');
      if (url !== null && !URL.canParse(url)) throw new BadQuestion('"url" must be an absolute URL');
      return jsonValue(checkSitemap(bytes, url, {charset: optionalText(question, 'charset')})) as object; // an object stays one
    },
    show(question, answer, colours) {
      const found = answer as SitemapCheck; // dates are texts by now
      const name = optionalText(question, 'name') ?? found.url;
      const head = `${found.kind}, ${counted(found.entries.length, 'entry', 'entries')}, ${counted(found.problemCount, 'problem')}`;
      return [
        colours.bold(visible(name)),
        `  ${head}${found.truncated === null ? '' : `, cut by ${found.truncated}`}`,
        ...found.entries.map(({position, loc, lastmod, listing}) => {
          const other = listing === null || mayList(listing) ? '' : `  ${colours.red('sitemap_host')}`;
          return `  ${position.line}:${position.column}  ${visible(loc)}${lastmod === null ? '' : `  ${String(lastmod)}`}${other}`;
        }),
        ...found.problems.map(({line, column, problem, detail}) =>
          colours.red(`  ${line}:${column}  ${problem}: ${visible(detail)}`),
        ),
      ].join('\n');
    },
  };
}

/** Is an argument a URL to be asked for, and no file? */
export function isRemote(item: string): boolean {
  return /^https?:\/\//i.test(item);
}

/** The question about the sitemap at a URL, which is asked for as a crawl would. */
export async function remoteSitemap(
  url: string,
  {dir, config}: CheckSettings,
  effects: Effects,
): Promise<Question> {
  const {fetchOne} = await import('../../jobs/fetch/one.ts'); // the network: files do without
  const texts = await readPolicyTexts(config, dir);
  const fetched = await fetchOne(url, 'sitemap', {config, texts, dir}, effects);
  if ('failure' in fetched)
    throw new CrawlError('INPUT_UNREADABLE', `${fetched.url} cannot be read: ${fetched.failure}`, {
      facts: {url: fetched.url},
      hint: 'It is asked for as a crawl would: robots.txt comes first, and nothing that it forbids is asked for.',
    });
  return {
    sitemap_base64: Buffer.from(fetched.body).toString('base64'),
    url: fetched.url,
    charset: fetched.charset,
    name: url,
  };
}
