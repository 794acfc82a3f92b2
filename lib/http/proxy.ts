import {isIP} from 'node:net';
import type {ConnectTarget} from './connect-to.ts';

/** A proxy that requests go through: by CONNECT for https, by absolute-form for http (RFC 9110, 9.3.6 and RFC 9112, 3.2.2). */
export interface HttpProxy {
  /** TLS to the proxy itself. */
  readonly secure: boolean;
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** `host:port`, for rows and messages. */
  readonly name: string;
  /** Value of Proxy-Authorization; absent for a proxy that asks for none. Never stored or shown. */
  readonly authorization?: string;
}

/** The first rule that fits decides. */
export interface ProxyRule {
  /** `example.org`, `*.example.org` for the hosts below it, or `*` for all. */
  readonly pattern: string;
  /** Undefined: direct. */
  readonly proxy: HttpProxy | undefined;
}

/** The proxy for a host; undefined: straight to it. */
export type ProxyChoice = (host: string) => HttpProxy | undefined;

export function proxyChoice(rules: readonly ProxyRule[]): ProxyChoice {
  return (host) => {
    const name = host.endsWith('.') ? host.slice(0, -1) : host;
    const rule = rules.find(({pattern}) => fits(pattern, name));
    return rule?.proxy;
  };
}

function fits(pattern: string, host: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}

/** `host:port`, IPv6 addresses in brackets. */
export function hostAndPort(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The operator named the proxy: whatever address it has may be reached. */
export function proxyTarget({host, port}: HttpProxy): ConnectTarget {
  return {host, port, pinned: 'any'};
}

/** What a 407 means, for people. */
export function askedForPassword(proxy: string): string {
  return `proxy ${proxy} asks for user and password (407): credentials.proxy`;
}
