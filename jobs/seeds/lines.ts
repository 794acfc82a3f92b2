import {createReadStream} from 'node:fs';
import {access, constants, stat} from 'node:fs/promises';
import {createInterface} from 'node:readline';
import {PassThrough, pipeline, Readable} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {createGunzip, gunzipSync} from 'node:zlib';
import {CrawlError, systemCode} from '../../lib/errors.ts';

/** Where seed lines come from: a file, or a text that was read already (standard input, arguments). */
export type SeedSource =
  | {readonly name: string; readonly path: string}
  | {readonly name: string; readonly text: string};

/** The sources that a command names: files, `-` for standard input, and URLs as arguments. */
export async function seedSources(
  files: readonly string[],
  urls: readonly string[],
  stdin: NodeJS.ReadableStream = Readable.from([]),
): Promise<readonly SeedSource[]> {
  const sources: SeedSource[] = [];
  for (const file of new Set(files)) {
    if (file === '-') {
      sources.push({name: '-', text: await readOnce(stdin, 'standard input')});
      continue;
    }
    let pipe: boolean;
    try {
      await access(file, constants.R_OK);
      pipe = (await stat(file)).isFIFO();
    } catch (error) {
      throw unreadable(file, error);
    }
    sources.push(pipe ? {name: file, text: await readPipe(file)} : {name: file, path: file});
  }
  if (urls.length > 0) sources.push({name: 'argument', text: urls.join('\n')});
  return sources;
}

/** Texts of streams that were read: a job that is planned again finds its standard input here. */
const texts = new WeakMap<NodeJS.ReadableStream, string>();

/** Named pipes that were read, as a shell's `<(…)` is one: a second look finds nothing in them. */
const pipes = new Map<string, Readable>();

function readPipe(path: string): Promise<string> {
  const stream = pipes.get(path) ?? createReadStream(path);
  pipes.set(path, stream);
  return readOnce(stream, path);
}

async function readOnce(stream: NodeJS.ReadableStream, name: string): Promise<string> {
  let text = texts.get(stream);
  if (text === undefined) {
    const bytes = await buffer(stream);
    try {
      text = (isGzip(bytes) ? gunzipSync(bytes) : bytes).toString('utf8');
    } catch (error) {
      throw unreadable(name, error);
    }
    texts.set(stream, text);
  }
  return text;
}

/** @see RFC 1952, section 2.3.1 */
const isGzip = (bytes: Uint8Array) => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Lines with their numbers, from 1. Files may be compressed by gzip, whatever their name. */
export async function* seedLines(source: SeedSource): AsyncGenerator<{line: number; text: string}> {
  const input = 'path' in source ? await openPlain(source.path) : Readable.from([source.text]);
  let line = 0;
  try {
    for await (const text of createInterface({input, crlfDelay: Number.POSITIVE_INFINITY})) {
      line++;
      yield {line, text: line === 1 ? text.replace(/^\uFEFF/, '') : text};
    }
  } catch (error) {
    throw unreadable(source.name, error);
  }
}

async function openPlain(path: string): Promise<Readable> {
  let magic: Buffer;
  try {
    magic = await firstBytes(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  const output = new PassThrough();
  const stages = isGzip(magic) ? [createGunzip()] : [];
  // A failure of any stage reaches the reader of the last one.
  pipeline([createReadStream(path), ...stages, output], () => undefined);
  return output;
}

async function firstBytes(path: string): Promise<Buffer> {
  for await (const piece of createReadStream(path, {end: 1})) return piece as Buffer; // no encoding: Buffers
  return Buffer.alloc(0);
}

function unreadable(name: string, error: unknown): CrawlError {
  const why = systemCode(error) ?? (error instanceof Error ? error.message : String(error));
  const damaged = why === 'Z_BUF_ERROR' || why === 'Z_DATA_ERROR'; // zlib: the stream ends early, or is no stream
  return new CrawlError(
    'INPUT_UNREADABLE',
    damaged
      ? `${name} is torn, or not gzip (${why})`
      : why === 'EISDIR'
        ? `${name} is a folder; wanted is a file of seeds, or a URL`
        : `${name} cannot be read (${why})`,
    {
      facts: {file: name},
      cause: error,
      ...(damaged
        ? {hint: 'Get the file anew; nothing of it was added.'}
        : why === 'ENOENT'
          ? {hint: 'There is no such file; a URL begins with https:// or http://.'}
          : {}),
    },
  );
}
