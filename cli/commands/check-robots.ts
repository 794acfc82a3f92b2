import {checkRobots, type RobotsCheck} from '../../lib/robots/check.ts';
import {
  BadQuestion,
  type Checker,
  type CheckSettings,
  optionalBytes,
  optionalText,
  textOf,
} from '../checker.ts';
import {visible} from '../words.ts';

/** `crawl check robots`: what a robots.txt says of a URL, and in which line. */
export function robotsChecker({config}: CheckSettings): Checker {
  const options = {maxBytes: config.robots.max_size, typos: config.robots.typos};
  return {
    ask(question) {
      const robots = optionalText(question, 'robots');
      const bytes = optionalBytes(question, 'robots_base64');
      if (robots === null && bytes === null)
        throw new BadQuestion('"robots" or "robots_base64" must be a text');
      return checkRobots(
        {
          ...(robots === null ? {robots_base64: bytes?.toString('base64') ?? ''} : {robots}),
          agent: optionalText(question, 'agent') ?? config.agent.name,
          url: textOf(question, 'url'),
        },
        options,
      );
    },
    show(question, answer, colours) {
      const found = answer as RobotsCheck; // what ask gave
      const verdict =
        found.allowed === null
          ? colours.red('not a URL')
          : found.allowed
            ? colours.green('allowed')
            : colours.red('forbidden');
      const by = found.line === null ? 'no rule matches' : `line ${found.line}: ${found.rule}`;
      const lines = [colours.bold(visible(textOf(question, 'url'))), `  ${verdict}`, `  by  ${visible(by)}`];
      if (found.crawl_delay_s !== null) lines.push(`  crawl-delay  ${found.crawl_delay_s} s`);
      for (const sitemap of found.sitemaps) lines.push(`  sitemap  ${visible(sitemap)}`);
      return lines.join('\n');
    },
  };
}
