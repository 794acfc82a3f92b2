import {isIP} from 'node:net';
import {domainToASCII} from 'node:url';
import {CrawlError} from '../errors.ts';

/** Where to connect for a host and port, in place of them. */
export interface ConnectTarget {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * The operator wrote this very address: it may be reached by this entry though it is private. A name as
   * target gives no such right: what it resolves to is checked like any other. `any`: whatever it resolves to.
   */
  readonly pinned: boolean | 'any';
}

interface Entry {
  readonly host: string;
  readonly port: string;
  readonly targetHost: string;
  readonly targetPort: string;
}

/** `host:port`, IPv6 addresses in brackets; host or port may be `*`. Names are as URLs have them: IDN in ASCII. */
function split(text: string): [host: string, port: string] | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5}|\*)$/.exec(text.trim());
  const [, address, name = '', port = ''] = match ?? [];
  const host = address?.toLowerCase() ?? (name === '*' ? name : domainToASCII(name));
  return host === '' ? undefined : [host, port];
}

/**
 * The map `network.connect_to`, after curl's --connect-to: applied before DNS; the URL, the Host header and the
 * name in TLS stay as they were. The first fitting entry in the order of the file counts. In a target `*`
 * keeps the host or port of the URL.
 *
 * @throws CrawlError CONFIG_INVALID for an entry that cannot be read
 */
export function connectToMap(
  entries: Readonly<Record<string, string>>,
): (host: string, port: number) => ConnectTarget | undefined {
  const parsed = Object.entries(entries).map(([from, to]): Entry => {
    const source = split(from);
    const target = split(to);
    if (source === undefined || target === undefined) {
      throw new CrawlError(
        'CONFIG_INVALID',
        `network.connect_to: not host:port to address:port: ${from}=${to}`,
        {
          facts: {key: 'network.connect_to', from, to},
        },
      );
    }
    return {host: source[0], port: source[1], targetHost: target[0], targetPort: target[1]};
  });
  return (host, port) => {
    const entry = parsed.find(
      (candidate) =>
        (candidate.host === '*' || candidate.host === host) &&
        (candidate.port === '*' || Number(candidate.port) === port),
    );
    if (entry === undefined) return undefined;
    return {
      host: entry.targetHost === '*' ? host : entry.targetHost,
      port: entry.targetPort === '*' ? port : Number(entry.targetPort),
      pinned: isIP(entry.targetHost) !== 0,
    };
  };
}
