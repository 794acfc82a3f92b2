import {parseUrl} from '../url/parse.ts';

/**
 * Forms of settings that are about secrets and proxies. A secret never stands in the configuration, which is shown,
 * copied into plans and kept in backups: it names where the secret is. What is wrong is told without the value,
 * since that may be the secret.
 */
export type SecretReference = {readonly env: string} | {readonly file: string};

/** `env:NAME` or `file:PATH`; undefined for anything else. */
export function secretReference(text: string): SecretReference | undefined {
  const match = /^(?:env:([A-Za-z_][A-Za-z0-9_]*)|file:(\S.*))$/.exec(text);
  if (match === null) return undefined;
  return match[1] === undefined ? {file: match[2] ?? ''} : {env: match[1]};
}

/**
 * The origin that credentials are for: `example.org` and `example.org:8443` mean https; http, over which anybody on
 * the way can read them, has to be written out: `http://example.org`. Undefined for what is none.
 */
export function credentialOrigin(text: string): string | undefined {
  const url = parseUrl(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  const bare = url !== undefined && url.pathname === '/' && url.search === '' && url.hash === '';
  return bare && url.username === '' && url.password === '' ? url.origin : undefined;
}

/** Host without brackets. */
export interface ProxyAddress {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** `host:port` */
  readonly name: string;
}

/** `http://host:port` or `https://host:port`; undefined for anything else, user and password included. */
export function proxyAddress(text: string): ProxyAddress | undefined {
  const url = parseUrl(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || credentialOrigin(text) === undefined)
    return undefined;
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return {secure, host: url.hostname.replace(/^\[|\]$/g, ''), port, name: `${url.hostname}:${port}`};
}

/** Does it name hosts: `example.org`, `*.example.org` or `*`? */
export function isHostPattern(text: string): boolean {
  return text === '*' || /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(text) || /^[0-9a-f:.]+$/.test(text);
}
