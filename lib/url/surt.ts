import {hostOf} from './host.ts';

/**
 * SURT key of a URL, as Common Crawl and the Internet Archive write it: `org,example)/a?x=1`.
 *
 * Scheme, userinfo, `www.`, default port, fragment and session ids are gone; the labels of the host are turned round
 * (of an IPv4 address too); path and query are in lower case, parameters sorted, no slash at the end. Many
 * URLs share a key: it is for sorting and looking up, not for telling URLs apart.
 *
 * URLs without a host come back as they are.
 */
export function surt(url: string): string {
  const scheme = url.indexOf('://');
  const host = hostOf(url).toLowerCase();
  if (scheme < 0 || host === '') return url;
  const afterScheme = url.slice(scheme + 3);
  const authorityEnd = afterScheme.search(/[/?#]|$/);
  const authority = afterScheme.slice(0, authorityEnd);
  const rest = afterScheme.slice(authorityEnd);
  const hash = rest.indexOf('#');
  const visible = hash < 0 ? rest : rest.slice(0, hash);
  const mark = visible.indexOf('?');
  const path = mark < 0 ? visible : visible.slice(0, mark);
  const query = mark < 0 ? '' : visible.slice(mark + 1);

  const port = /:(\d+)$/.exec(authority)?.[1];
  const shown = port === undefined || port === defaultPort(url.slice(0, scheme)) ? '' : `:${port}`;
  const key = `${reverseHost(host.replace(/^www\d*\.(?=.)/, ''))}${shown})${surtPath(path)}`;
  const surtQuery = sortedQuery(query);
  return surtQuery === '' ? key : `${key}?${surtQuery}`;
}

/** `www.example.org` as `org,example,www`; a bracketed IPv6 address as it is. */
export function reverseHost(host: string): string {
  return host.startsWith('[')
    ? host
    : host
        .replace(/^\.+|\.+$/g, '')
        .split('.')
        .reverse()
        .join(',');
}

function defaultPort(scheme: string): string | undefined {
  return {http: '80', https: '443', ftp: '21'}[scheme.toLowerCase()];
}

function surtPath(path: string): string {
  const kept: string[] = [];
  const segments = unescapeRepeatedly(path).split('/');
  for (const segment of segments.slice(1)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  const last = kept.pop() ?? '';
  const plain = '/' + [...kept.filter((segment) => segment !== ''), last].join('/');
  const lower = stripPathSessions(escapeOnce(plain).toLowerCase());
  return lower.length > 1 && lower.endsWith('/') ? lower.slice(0, -1) : lower;
}

/** What the last match of a pattern covers; undefined where there is none before `before`. */
function lastMatch(
  text: string,
  pattern: RegExp,
  before = text.length,
): {from: number; to: number} | undefined {
  let last: {from: number; to: number} | undefined;
  for (const match of text.matchAll(pattern)) {
    const to = match.index + match[0].length;
    if (to < before || before === text.length) last = {from: match.index, to};
  }
  return last;
}

/** `;jsessionid=` at the end, and what ASP.NET puts before the name of an .aspx page. */
function stripPathSessions(path: string): string {
  let now = path.replace(/;jsessionid=[0-9a-z]{32}$/, '');
  for (const session of [/\/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=\/)/g, /\/\([0-9a-z]{24}\)(?=\/)/g]) {
    const page = now.lastIndexOf('.aspx');
    const found = page < 0 ? undefined : lastMatch(now, session, page);
    if (found) now = now.slice(0, found.from) + now.slice(found.to);
  }
  return now;
}

const querySessions: readonly RegExp[] = [
  /jsessionid=[0-9a-zA-Z]{32}(?:&|$)/gi,
  /phpsessid=[0-9a-zA-Z]{32}(?:&|$)/gi,
  /sid=[0-9a-zA-Z]{32}(?:&|$)/gi,
  /ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24}(?:&|$)/gi,
];

/** Each kind is taken out once, from the back, wherever in a name it begins: so their program does. */
function stripQuerySessions(query: string): string {
  let now = query;
  for (const session of querySessions) {
    const found = lastMatch(now, session);
    if (found) now = now.slice(0, found.from) + now.slice(found.to);
  }
  const parts = now.split('&');
  for (let i = parts.length - 2; i >= 0; i--) {
    const at = parts[i]!.toLowerCase().lastIndexOf('cfid=');
    if (at < 0 || at + 5 === parts[i]!.length || !/^cftoken=./i.test(parts[i + 1]!)) continue;
    const rest = parts.slice(i + 2);
    return [...parts.slice(0, i), parts[i]!.slice(0, at) + (rest[0] ?? ''), ...rest.slice(1)].join('&');
  }
  return now;
}

function sortedQuery(query: string): string {
  if (query === '') return '';
  const parts = stripQuerySessions(escapeOnce(unescapeRepeatedly(query)))
    .toLowerCase()
    .split('&')
    .map((part) => {
      const eq = part.indexOf('=');
      return {name: eq < 0 ? part : part.slice(0, eq), rest: eq < 0 ? '' : part.slice(eq)};
    });
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  parts.sort((a, b) => order(a.name, b.name) || order(a.rest, b.rest));
  return parts.map(({name, rest}) => name + rest).join('&');
}

/**
 * All escapes decoded, those too that come about by decoding (`%2541` is `A`), in one pass: what was decoded
 * last is looked at again as the end of an escape. The result has one character a byte.
 */
function unescapeRepeatedly(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  if (!bytes.includes(37)) return bytes.toString('latin1');
  const out = Buffer.allocUnsafe(bytes.length);
  let n = 0;
  for (const byte of bytes) {
    out[n++] = byte;
    while (n >= 3 && out[n - 3] === 37) {
      const pair = out.toString('latin1', n - 2, n);
      if (!/^[0-9a-fA-F]{2}$/.test(pair)) break;
      n -= 2;
      out[n - 1] = Number.parseInt(pair, 16);
    }
  }
  return out.toString('latin1', 0, n);
}

/** Escapes bytes that are not visible ASCII, `#` and `%`. */
function escapeOnce(bytes: string): string {
  return bytes.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it escapes
    /[\u0000-\u0020\u007f-\u00ff#%]/g,
    (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'),
  );
}
