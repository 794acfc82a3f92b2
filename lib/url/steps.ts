import {withoutWww} from './host.ts';
import {filterQuery, type ParameterStep, sortQuery} from './parameters.ts';
import {normalizePercent} from './percent.ts';
import type {HostPolicy, UrlPolicy} from './policy.ts';
import {stripPathSession} from './session.ts';

/** A hierarchical URL in parts, changed in place by the steps. */
export interface UrlParts {
  /** With its colon. */
  readonly scheme: string;
  userinfo: string;
  host: string;
  /** With its colon; empty for the default port. */
  readonly port: string;
  path: string;
  /** Without `?`; null where there is none. */
  query: string | null;
  fragment: string | null;
}

export function partsOf(url: URL): UrlParts {
  const {href, username, password, search, hash} = url;
  const beforeHash = hash === '' ? href : href.slice(0, href.length - hash.length);
  return {
    scheme: url.protocol,
    userinfo:
      username === '' && password === '' ? '' : password === '' ? username : `${username}:${password}`,
    host: url.hostname,
    port: url.port === '' ? '' : `:${url.port}`,
    path: url.pathname,
    query: search === '' ? (/\?#?$/.test(beforeHash) ? '' : null) : search.slice(1),
    fragment: hash === '' ? (href.endsWith('#') ? '' : null) : hash.slice(1),
  };
}

export function joinParts(parts: UrlParts): string {
  const {scheme, userinfo, host, port, path, query, fragment} = parts;
  const start = `${scheme}//${userinfo === '' ? '' : `${userinfo}@`}${host}${port}${path}`;
  const withQuery = query === null ? start : `${start}?${query}`;
  return fragment === null ? withQuery : `${withQuery}#${fragment}`;
}

export interface Step {
  readonly name: string;
  readonly run: (parts: UrlParts, policy: UrlPolicy, host: HostPolicy) => void;
}

const removeParameters = (step: ParameterStep): Step => ({
  name: step,
  run: (parts, _policy, host) => {
    if (parts.query)
      parts.query = filterQuery(parts.query, (name, value) => host.judge(name, value) === step);
  },
});

/** The steps after the parser, in their order. Each is done with by one pass, and undoes none before it. */
export const steps: readonly Step[] = [
  {
    name: 'fragment',
    run: (parts) => {
      parts.fragment = null;
    },
  },
  {
    name: 'userinfo',
    run: (parts) => {
      parts.userinfo = '';
    },
  },
  {
    name: 'host_dot',
    run: (parts) => {
      if (parts.host.endsWith('.')) parts.host = parts.host.slice(0, -1);
    },
  },
  {
    name: 'www',
    run: (parts, policy) => {
      if (policy.stripWww) parts.host = withoutWww(parts.host);
    },
  },
  {
    name: 'percent_encoding',
    run: (parts) => {
      parts.path = normalizePercent(parts.path, false);
      if (parts.query) parts.query = normalizePercent(parts.query, true);
    },
  },
  {
    name: 'path_session_ids',
    run: (parts, policy) => {
      if (policy.stripSessionIds) parts.path = stripPathSession(parts.path);
    },
  },
  {
    name: 'collapse_slashes',
    run: (parts, _policy, host) => {
      if (host.collapseSlashes) parts.path = parts.path.replace(/\/{2,}/g, '/');
    },
  },
  removeParameters('tracking_parameters'),
  removeParameters('session_ids'),
  removeParameters('strip_parameters'),
  {
    name: 'sort_parameters',
    run: (parts, _policy, host) => {
      if (host.sort && parts.query) parts.query = sortQuery(parts.query);
    },
  },
  {
    name: 'empty_query',
    run: (parts) => {
      if (parts.query === '') parts.query = null;
    },
  },
];
