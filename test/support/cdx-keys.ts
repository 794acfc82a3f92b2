import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {corpus} from './corpora.ts';

export interface KeyedUrl {
  readonly key: string;
  readonly url: string;
  readonly file: string;
}

/** SURT keys with their URLs, as the capture indexes of the corpora have them, each pair once. */
export function cdxKeys(): KeyedUrl[] {
  const pairs = new Map<string, KeyedUrl>();
  const add = (key: string, url: string, file: string) => pairs.set(`${key} ${url}`, {key, url, file});
  const folder = corpus('cdx')!;
  for (const file of readdirSync(folder, {recursive: true, encoding: 'utf8'})) {
    const path = join(folder, file);
    if (/\.cdxj?(\.gz)?$/.test(file)) for (const [key, url] of indexLines(path)) add(key, url, file);
    else if (file.endsWith('.jsonl')) for (const [key, url] of recordedAnswers(path)) add(key, url, file);
  }
  return [...pairs.values()];
}

function* indexLines(path: string): Generator<readonly [key: string, url: string]> {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith(' CDX')) continue;
    const [key = '', , third = ''] = line.split(' ');
    const json = line.indexOf('{');
    yield [key, json < 0 ? third : (JSON.parse(line.slice(json)) as {url: string}).url];
  }
}

/** Answers of index servers: objects a line with `urlkey` and `url`, or one array of rows with `original`. */
function* recordedAnswers(path: string): Generator<readonly [key: string, url: string]> {
  for (const exchange of readFileSync(path, 'utf8').split('\n')) {
    if (exchange === '') continue;
    const {response_text: text} = JSON.parse(exchange) as {response_text?: string};
    if (text === undefined) continue;
    if (text.startsWith('[[')) {
      for (const [key = '', , url = ''] of (JSON.parse(text) as string[][]).slice(1)) yield [key, url];
      continue;
    }
    for (const line of text.split('\n')) {
      if (!line.startsWith('{"urlkey"')) continue;
      const {urlkey, url} = JSON.parse(line) as {urlkey: string; url: string};
      yield [urlkey, url];
    }
  }
}
