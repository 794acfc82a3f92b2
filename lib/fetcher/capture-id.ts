import type {CaptureKind} from '../schema/status.ts';

const letters: Record<CaptureKind, string> = {
  page: 'p',
  hop: 'h',
  robots: 't',
  sitemap: 's',
  rendered: 'v',
  imported: 'i',
  probe: 'n',
};

/**
 * Name of a capture: the same for the same segment, kind, hop, URL and fetch time, and different where one of
 * them differs (up to the 64 bits of the URL's key).
 *
 * `20261130111600-p0-09f8e7d6c5b4a392-mh5x2k1c`: segment, letter of the kind with the hop, key of the URL in
 * hex, fetch time in base 36. Letters, digits and hyphens only, so it may stand in a file name or a URI.
 * @param fetchTimeMs milliseconds since the epoch
 */
export function captureId(
  segment: string,
  kind: CaptureKind,
  urlKey: bigint,
  fetchTimeMs: number,
  hop: number,
): string {
  return `${segment}-${letters[kind]}${hop}-${urlKey.toString(16).padStart(16, '0')}-${fetchTimeMs.toString(36)}`;
}
