import {CrawlError} from '../lib/errors.ts';

/** The mode of a command that has several, as `--dump`; undefined where none is asked for. Throws USAGE for two. */
export function oneMode<M extends string>(
  command: string,
  modes: Readonly<Record<M, boolean>>,
): M | undefined {
  const asked = (Object.keys(modes) as M[]).filter((mode) => modes[mode]);
  if (asked.length > 1)
    throw new CrawlError('USAGE', `only one of ${asked.join(', ')}`, {hint: `See: crawl ${command} --help`});
  return asked[0];
}
