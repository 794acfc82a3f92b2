import {readFileSync} from 'node:fs';
import {corpus} from './corpora.ts';

export interface RealAnswer {
  readonly host: string;
  readonly agent: string;
  readonly url: string;
  readonly expected: boolean | null;
  readonly google?: boolean;
  readonly robots_parser?: boolean;
  readonly protego?: boolean;
}

function lines(path: string): unknown[] {
  return readFileSync(corpus(path)!, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** robots.txt files of real hosts by host. */
export function realRobots(): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let part = 0; corpus(`robots/real-robots-${part}.jsonl`) !== undefined; part++) {
    for (const line of lines(`robots/real-robots-${part}.jsonl`)) {
      const {host, text, base64} = line as {host: string; text?: string; base64?: string};
      files.set(host, base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64'));
    }
  }
  return files;
}

export function realAnswers(name: 'real-answers' | 'real-answers-contested'): RealAnswer[] {
  return lines(`robots/${name}.jsonl`) as RealAnswer[];
}
