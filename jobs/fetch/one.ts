import type {Config} from '../../lib/config/settings.ts';
import type {Effects} from '../../lib/effects.ts';
import {Fetcher} from '../../lib/fetcher/fetcher.ts';
import {decodeBody} from '../../lib/parse/body.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {FetchlistRow} from '../../lib/schema/fetchlist.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {maxSitemapBytes} from '../../lib/sitemap/sitemap.ts';
import {identify} from '../../lib/url/keys.ts';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {contactRule} from '../config/contact-rule.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import {httpClient} from '../http/client.ts';

/** Chosen: a person waits. Longer delays and closed hours are a failure, `window`. */
const longestMs = 5 * 60_000;

/** A document without its content coding, or why there is none. */
export type Fetched =
  | {readonly url: string; readonly body: Uint8Array; readonly charset: string | null}
  | {readonly url: string; readonly failure: string};

/**
 * Asks for one URL, which nobody has to have in a crawl, by the rules of a fetch: contact, robots.txt first, scope
 * and loops of redirects, addresses, limits. Nothing is stored. Redirects are followed within the registered domain.
 */
export async function fetchOne(
  input: string,
  kind: FetchlistRow['kind'],
  {config, texts, dir}: {readonly config: Config; readonly texts: PolicyTexts; readonly dir: string},
  effects: Effects,
): Promise<Fetched> {
  const policy = urlPolicy(config.url, texts.urlRules);
  const normalized = normalizeUrl(input, policy);
  if ('reason' in normalized) return {url: input, failure: `${normalized.reason}: ${normalized.detail}`};
  contactRule(config)(normalized.url);
  const rows: {readonly capture: Capture; readonly payload: Uint8Array | null}[] = [];
  const fetcher = new Fetcher({
    segment: 'check',
    config,
    client: await httpClient(config, {env: effects.env, dir}),
    sink: {append: (capture, payload) => void rows.push({capture, payload})},
    scope: makeScope(config.scope, config.url, config.links, texts.scopeFiles),
    urlPolicy: policy,
    effects,
    leaseOk: () => true,
    progress: () => {},
    maxActive: 1,
    windowMs: longestMs,
    closed: false,
  });
  fetcher.work.add({
    ...nothingHeld,
    ...identify(normalized.url),
    segment: 'check',
    partition: 0,
    rank: 1,
    kind,
    selected_as: 'new',
    score: 1,
    depth: 0,
    seed: null,
  });
  await fetcher.run();
  effects.signal.throwIfAborted();
  const last = rows.filter(({capture}) => capture.kind !== 'robots').at(-1);
  if (last === undefined) throw new TypeError(`no outcome of ${normalized.url}`);
  const {capture, payload} = last;
  if (capture.status === 'success') return documentOf(capture, payload ?? new Uint8Array(0), config);
  const {status, reason, reason_detail: detail, fetch_redirect: target} = capture;
  const why = [reason ?? status, detail, target === null ? null : `to ${target}`];
  return {url: capture.url, failure: why.filter((part) => part !== null).join(': ')};
}

function documentOf(
  {url, response_header, content_encoding}: Capture,
  payload: Uint8Array,
  {parse}: Config,
): Fetched {
  const limits = {maxBytes: maxSitemapBytes + 1, maxRatio: parse.max_ratio};
  const {bytes} = decodeBody(payload, content_encoding, limits);
  const header = Buffer.from(response_header ?? []).toString('latin1');
  const charset = /^content-type:[^\r\n]*;\s*charset="?([^\s";]+)/im.exec(header)?.[1] ?? null;
  return {url, body: bytes, charset};
}

const nothingHeld = {etag: null, last_modified: null, content_digest: null, content_segment: null};
