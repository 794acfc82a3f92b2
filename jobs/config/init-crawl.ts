import {open} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {loadConfig} from '../../lib/config/load.ts';
import {configTemplate} from '../../lib/config/template.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import {makeFolders} from '../../lib/store/crawl.ts';
import {makeFolder, writeError} from '../../lib/store/durable.ts';
import {configFile} from './open.ts';

/**
 * Makes a crawl: crawl.yaml, written out where a setting is given, and its folders. Throws CRAWL_EXISTS where
 * a crawl.yaml is; then nothing is changed.
 *
 * @param given settings by full name, as text
 * @returns absolute path of the crawl
 */
export async function initCrawl(dir: string, given: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = resolve(dir);
  const text = configTemplate(given);
  loadConfig({file: {name: configFile, text}, env: {}}); // a bad value must not reach the file
  try {
    await makeFolder(root);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST' || code === 'ENOTDIR' || code === 'ENOENT')
      throw new CrawlError(
        'NOT_WRITABLE',
        `${root} is not a folder${code === 'ENOENT' ? ', and none can be made there' : ''}`,
        {
          facts: {dir: root},
          hint: 'Choose another name.',
        },
      );
    throw writeError(error, root);
  }
  try {
    const file = await open(join(root, configFile), 'wx');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await makeFolders(root);
  } catch (error) {
    if (systemCode(error) === 'EEXIST')
      throw new CrawlError('CRAWL_EXISTS', `there is a crawl in ${root} already`, {facts: {dir: root}});
    throw writeError(error, root);
  }
  return root;
}
