import {checkSitemap, type SitemapCheck} from '../../lib/sitemap/check.ts';
import {type Checker, optionalText, textOf} from '../checker.ts';
import {jsonValue} from '../output.ts';
import {counted, visible} from '../words.ts';

/** `crawl check sitemap`: the entries of a sitemap or feed, and what is wrong with it. */
export function sitemapChecker(): Checker {
  return {
    ask(question) {
      const base64 = optionalText(question, 'sitemap_base64');
      const bytes =
        base64 === null ? Buffer.from(textOf(question, 'sitemap'), 'utf8') : Buffer.from(base64, 'base64');
      return jsonValue(checkSitemap(bytes, optionalText(question, 'url'))) as object; // an object stays one
    },
    show(question, answer, colours) {
      const found = answer as SitemapCheck; // dates are texts by now
      const name = optionalText(question, 'name') ?? found.url;
      const head = `${found.kind}, ${counted(found.entries.length, 'entry', 'entries')}, ${counted(found.problemCount, 'problem')}`;
      return [
        colours.bold(visible(name)),
        `  ${head}${found.truncated === null ? '' : `, cut by ${found.truncated}`}`,
        ...found.entries.map(
          ({position, loc, lastmod}) =>
            `  ${position.line}:${position.column}  ${visible(loc)}${lastmod === null ? '' : `  ${String(lastmod)}`}`,
        ),
        ...found.problems.map(({line, column, problem, detail}) =>
          colours.red(`  ${line}:${column}  ${problem}: ${visible(detail)}`),
        ),
      ].join('\n');
    },
  };
}
