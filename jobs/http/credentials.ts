import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import {credentialOrigin, proxyAddress, secretReference} from '../../lib/config/references.ts';
import type {Config} from '../../lib/config/settings.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import type {HttpProxy, ProxyRule} from '../../lib/http/proxy.ts';

/** Where references lead. */
export interface SecretPlaces {
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Folder of the crawl, for relative files. */
  readonly dir: string;
}

/** Headers that are sent to one origin alone, by that origin. */
export type SecretHeaders = Map<string, (readonly [name: string, value: string])[]>;

/**
 * The credentials that the configuration refers to, read from the environment and from files.
 * They are held in memory alone: nothing of them may reach a plan, a row, a message or the log.
 *
 * @throws CrawlError CREDENTIAL_UNREADABLE, which names the setting and the place, never what stands there
 */
export async function readCredentials({credentials}: Config, places: SecretPlaces): Promise<SecretHeaders> {
  const headers: SecretHeaders = new Map();
  const add = (origin: string, name: string, value: string, bad: Bad): void => {
    const known = headers.get(origin) ?? [];
    if (known.some((one) => one[0].toLowerCase() === name.toLowerCase())) throw bad(`${name} is given twice`);
    headers.set(origin, [...known, [name, value]]);
  };
  for (const [where, reference] of Object.entries(credentials.basic)) {
    const {text, bad} = await readSecret('credentials.basic', reference, places);
    add(originOf(where), 'Authorization', basic(text, bad), bad);
  }
  for (const [where, reference] of Object.entries(credentials.headers)) {
    const {text, bad} = await readSecret('credentials.headers', reference, places);
    for (const line of text.split(/\r?\n/)) {
      const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]*[\x21-\x7e])[ \t]*$/.exec(line);
      const [, name = '', value = ''] = match ?? [];
      if (match === null) throw bad('it holds a line that is not `Name: value` in printable ASCII');
      if (ownHeaders.has(name.toLowerCase())) throw bad(`the header ${name} is the program’s own`);
      add(originOf(where), name, value, bad);
    }
  }
  return headers;
}

/** The rules that say which host is asked through which proxy, with the proxies' credentials. */
export async function readProxies(config: Config, places: SecretPlaces): Promise<readonly ProxyRule[]> {
  const passwords = new Map<string, string>();
  for (const [where, reference] of Object.entries(config.credentials.proxy)) {
    const {text, bad} = await readSecret('credentials.proxy', reference, places);
    passwords.set(addressOf(`http://${where}`).name, basic(text, bad));
  }
  return readProxyRules(config, passwords);
}

/** The rules alone. @param passwords value of Proxy-Authorization by `host:port` */
export function readProxyRules(
  {network}: Config,
  passwords: ReadonlyMap<string, string> = new Map(),
): readonly ProxyRule[] {
  const proxyOf = (text: string): HttpProxy => {
    const address = addressOf(text);
    const authorization = passwords.get(address.name);
    return authorization === undefined ? address : {...address, authorization};
  };
  const rules: ProxyRule[] = Object.entries(network.proxy_rules).map(([pattern, proxy]) => ({
    pattern,
    proxy: proxy === 'direct' ? undefined : proxyOf(proxy),
  }));
  if (network.proxy !== undefined) rules.push({pattern: '*', proxy: proxyOf(network.proxy)});
  return rules;
}

/** What the client sets by itself, and what would change where a message ends. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['host', 'user-agent', 'connection', 'keep-alive', 'proxy-authorization', 'upgrade', 'te', 'trailer'],
  ...['content-length', 'transfer-encoding', 'expect', 'range', 'if-none-match', 'if-modified-since'],
  ...['accept', 'accept-encoding', 'accept-language'],
]);

type Bad = (what: string) => CrawlError;

async function readSecret(
  setting: string,
  reference: string,
  {env = {}, dir}: SecretPlaces,
): Promise<{readonly text: string; readonly bad: Bad}> {
  const place = secretReference(reference);
  if (place === undefined) throw new TypeError(`${setting}: not a reference`); // lib/config/check.ts has looked
  const name = 'env' in place ? `the variable ${place.env}` : `the file ${place.file}`;
  const bad: Bad = (what) =>
    new CrawlError('CREDENTIAL_UNREADABLE', `${setting}: ${name}: ${what}`, {facts: {setting}});
  let text: string | undefined;
  if ('env' in place) text = env[place.env];
  else
    try {
      text = await readFile(resolve(dir, place.file), 'utf8');
    } catch (error) {
      throw bad(`it cannot be read (${systemCode(error) ?? 'unknown error'})`);
    }
  const trimmed = text?.replace(/^\ufeff/, '').replace(/[\r\n]+$/, '');
  if (trimmed === undefined || trimmed === '')
    throw bad(text === undefined ? 'it is not set' : 'it is empty');
  return {text: trimmed, bad};
}

/** RFC 7617, as UTF-8: a user without colon, a colon, a password. */
function basic(text: string, bad: Bad): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 forbids control characters
  if (!/^[^:]*:/.test(text) || /[\u0000-\u001f\u007f]/.test(text)) throw bad('it is not user:password');
  return `Basic ${Buffer.from(text, 'utf8').toString('base64')}`;
}

function originOf(where: string): string {
  const origin = credentialOrigin(where.toLowerCase());
  if (origin === undefined) throw new TypeError('not an origin'); // lib/config/check.ts has looked
  return origin;
}

function addressOf(text: string): NonNullable<ReturnType<typeof proxyAddress>> {
  const address = proxyAddress(text);
  if (address === undefined) throw new TypeError('not a proxy'); // lib/config/check.ts has looked
  return address;
}
