import {isIP, isIPv4} from 'node:net';
import {CrawlError} from '../errors.ts';

/**
 * Which addresses a crawler may connect to: global unicast only, unless a range is allowed by configuration.
 * Ranges are those of the IANA special-purpose registries (RFC 6890 and its successors), and the
 * addresses at which clouds serve credentials to their machines.
 */
const specialRanges = [
  // The named ones first: a metadata address lies inside a wider range and should be called by its name.
  ['169.254.169.254/32', 'metadata'],
  ['100.100.100.200/32', 'metadata'],
  ['192.0.0.192/32', 'metadata'],
  ['168.63.129.16/32', 'metadata'],
  ['fd00:ec2::254/128', 'metadata'],
  ['fd20:ce::254/128', 'metadata'],

  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignment'],
  ['192.0.2.0/24', 'documentation'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],

  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  ['64:ff9b:1::/48', 'local translation'],
  ['100::/64', 'discard'],
  ['2001::/32', 'Teredo'],
  ['2001::/23', 'protocol assignment'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['3fff::/20', 'documentation'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
] as const;

/** `public` may be reached; all others only where configuration allows their range. */
export type AddressKind = 'public' | 'reserved' | (typeof specialRanges)[number][1];

/** 4 or 16 numbers from 0 to 255. */
type Octets = readonly number[];

interface Range {
  readonly octets: Octets;
  readonly bits: number;
}

/** An IP address without brackets; a zone (`%eth0`) is ignored. Undefined for anything else. */
function parseAddress(text: string): Octets | undefined {
  const zone = text.indexOf('%');
  const address = zone < 0 ? text : text.slice(0, zone);
  if (isIPv4(address)) return address.split('.').map(Number);
  if (isIP(address) !== 6) return undefined;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex =
    dotted === null
      ? address
      : `${dotted[1]}${pair(Number(dotted[2]), Number(dotted[3]))}:${pair(Number(dotted[4]), Number(dotted[5]))}`;
  const [head = '', tail] = hex.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}

function pair(high: number, low: number): string {
  return (high * 256 + low).toString(16);
}

function parseRange(text: string): Range | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim());
  const octets = match === null ? undefined : parseAddress((match[1] ?? '').replace(/^\[|\]$/g, ''));
  if (octets === undefined) return undefined;
  const bits = match?.[2] === undefined ? octets.length * 8 : Number(match[2]);
  return bits > octets.length * 8 ? undefined : {octets, bits};
}

function within(address: Octets, range: Range): boolean {
  if (address.length !== range.octets.length) return false;
  for (let bit = 0; bit < range.bits; bit += 8) {
    const rest = range.bits - bit;
    const mask = rest >= 8 ? 255 : (255 << (8 - rest)) & 255;
    if (((address[bit / 8]! ^ range.octets[bit / 8]!) & mask) !== 0) return false;
  }
  return true;
}

const special = specialRanges.map(([text, kind]) => ({...parseRange(text)!, kind}));
const mapped = parseRange('::ffff:0:0/96')!;
const siit = parseRange('::ffff:0:0:0/96')!;
const nat64 = parseRange('64:ff9b::/96')!;
const globalUnicast = parseRange('2000::/3')!;

/**
 * The IPv4 address that an IPv6 one stands for, where connecting to the one reaches the other: mapped
 * (RFC 4291), translated (RFC 2765) and NAT64 (RFC 6052). 6to4 and Teredo are refused as a whole.
 */
function embedded(octets: Octets): Octets | undefined {
  return [mapped, siit, nat64].some((range) => within(octets, range)) ? octets.slice(12) : undefined;
}

function kindOf(octets: Octets): AddressKind {
  const inner = embedded(octets);
  if (inner !== undefined) return kindOf(inner);
  const range = special.find((candidate) => within(octets, candidate));
  if (range !== undefined) return range.kind;
  return octets.length === 4 || within(octets, globalUnicast) ? 'public' : 'reserved';
}

/** What kind of address it is; undefined for a text that is no address. */
export function classifyAddress(address: string): AddressKind | undefined {
  const octets = parseAddress(address);
  return octets === undefined ? undefined : kindOf(octets);
}

/** Why an address may not be reached, in words; undefined if it may. */
export type AddressPolicy = (address: string) => string | undefined;

/**
 * @param allow ranges as 127.0.0.0/8, ::1/128 or a bare address
 * @throws CrawlError CONFIG_INVALID for a range that is none
 */
export function addressPolicy(allow: readonly string[]): AddressPolicy {
  const allowed = allow.map((text) => {
    const range = parseRange(text);
    if (range === undefined) {
      throw new CrawlError('CONFIG_INVALID', `network.allow: not an address range: ${text}`, {
        facts: {key: 'network.allow', value: text},
      });
    }
    return range;
  });
  return (address) => {
    const octets = parseAddress(address);
    if (octets === undefined) return `${address} is not an address`;
    const kind = kindOf(octets);
    if (kind === 'public') return undefined;
    const inner = embedded(octets);
    const permitted = allowed.some(
      (range) => within(octets, range) || (inner !== undefined && within(inner, range)),
    );
    return permitted ? undefined : `${address} is ${kind}`;
  };
}
