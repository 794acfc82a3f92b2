import type {ResponseHead} from './exchange.ts';

/**
 * HTTP/2 sends headers as compressed binary fields: there are no bytes of a header block to keep. What is kept is their
 * text, as curl shows it: a first line with `HTTP/2`, then a field a line, in the order in which it came, names in lower
 * case as they are sent. The column `protocol` says `h2`. Pure.
 */

/**
 * @param fields names and values in turn, as undici hands them out: UTF-8 of what Node read as latin1. Node has joined
 * repeated fields by ", " by then, but for Set-Cookie
 */
export function readHttp2Head(
  status: number,
  fields: readonly Buffer[],
): {readonly head: ResponseHead; readonly text: string} {
  const headers: [string, string][] = [];
  let text = `HTTP/2 ${status}\r\n`;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name, value] = [fields[i]!.toString('utf8'), fields[i + 1]!.toString('utf8')];
    headers.push([name, value]);
    text += `${name}: ${value}\r\n`;
  }
  return {head: {status, statusText: '', headers}, text: `${text}\r\n`};
}

/** @param headers names and values in turn */
export function http2RequestText(path: string, host: string, headers: readonly string[]): string {
  let text = `GET ${path} HTTP/2\r\nhost: ${host}\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2)
    text += `${headers[i]!.toLowerCase()}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
