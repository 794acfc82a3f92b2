import type {Explanation} from '../jobs/explain.ts';
import {type Reason, reasonFacts, reasonNames} from '../lib/schema/reason.ts';
import {reasonList} from './closing.ts';
import {delayText, ruleText} from './host-text.ts';
import {stageOf} from './next-step.ts';
import type {Output} from './output.ts';
import {bytes, count, counted, span, visible} from './words.ts';

interface Frame {
  readonly now: number;
  readonly colours: Output['colours'];
}

/** `crawl explain` for people: first the answer, then what it rests on. */
export function explanationText(explanation: Explanation, {now, colours}: Frame): string {
  const said = answer(explanation, now);
  const lines = [colours.bold(visible(explanation.url ?? explanation.input)), visible(said), ''];
  // What the answer has explained is named alone below it.
  const why = (reason: Reason) => (said.includes(because(reason)) ? reason : because(reason));
  for (const [title, texts] of sections(explanation, now, why)) {
    const [first, ...others] = texts;
    if (first === undefined) continue;
    lines.push(`${colours.dim(title.padEnd(12))}${visible(first)}`);
    for (const text of others) lines.push(`${' '.repeat(12)}${visible(text)}`);
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Why it was or was not fetched, in a sentence or two. */
export function answer(explanation: Explanation, now: number): string {
  const {url, refused, row, links, refusals, seeds, scope, selections, openSegments} = explanation;
  if (refused) {
    const advice = explanation.input.includes('://') ? '' : '; a URL begins with https:// or http://';
    return `It cannot be crawled: ${because(refused.reason)} (${refused.detail})${advice}`;
  }
  const waiting = selections.find(({segment}) => openSegments.includes(segment));
  if (row === null) {
    const rejectedSeed = seeds.find(({outcome}) => outcome === 'rejected');
    if (rejectedSeed?.reason != null)
      return `Not in the crawldb: it was injected and rejected, ${because(rejectedSeed.reason)}`;
    if (url !== null && new URL(url).pathname === '/robots.txt')
      return 'A robots.txt: asked for before the pages of its origin, and no page itself.';
    const pending = links.newest.find(({accepted, segment}) => accepted && openSegments.includes(segment));
    if (pending !== undefined)
      return `Not in the crawldb yet: segment ${pending.segment} links to it and is not applied; next: crawl updatedb`;
    const [newest] = refusals;
    if (newest !== undefined) return `Not in the crawldb: updatedb did not add it, ${because(newest.reason)}`;
    if (links.total === 0) return 'Never seen: it is no seed, and no parsed page links to it.';
    if (links.accepted > 0)
      return `Not in the crawldb, although ${counted(links.accepted, 'link')} to it could be followed: updatedb refused it (a budget, --no-additions, or links of duplicates only), before it kept such reasons.`;
    const [reason] = reasonList(links.reasons).split(' ');
    return `Not in the crawldb: each of ${counted(links.total, 'link')} to it was rejected, ${because(reason as Reason)}`;
  }
  const why = row.reason === null ? '' : `: ${because(row.reason)}`;
  const due = row.next_fetch_time.getTime();
  const next = due <= now ? 'it is due now' : `it is due again in ${span(due - now)}`;
  if (waiting)
    return `${outcomeIn(explanation, waiting.segment)}; that segment is ${stateOf(waiting)} and not applied yet.`;
  if (row.status === 'unfetched') {
    if (scope && !scope.accepted)
      return `Not fetched; the present scope rejects it (${because(scope.reason)}), so generate passes over it.`;
    if (row.reason !== null) return `Not fetched so far${why}; ${next}.`;
    return due <= now
      ? `Not fetched yet: it is due, and ${lastTurn(explanation)} (its score is ${short(row.score)}).`
      : `Not fetched yet; ${next}.`;
  }
  if (row.status === 'duplicate') return `Fetched; its content equals that of ${row.duplicate_of}; ${next}.`;
  if (row.status.startsWith('redir'))
    return `It redirects to ${row.fetch_redirect ?? 'an unusable target'}; ${next}.`;
  return `${{fetched: 'Fetched', notmodified: 'Fetched, and unchanged since', gone: 'Gone', orphan: 'Orphaned', parse_failed: 'Fetched, but not parsed'}[row.status as 'gone']}${why}; ${next}.`;
}

/** A score to four digits: those behind are what adding up left. */
function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** `1.2 = 1 × seed 1 + 0.1 × inlinks 2`. */
function priorityText(parts: NonNullable<Explanation['priority']>): string {
  const total = parts.reduce((sum, {weight, value}) => sum + weight * value, 0);
  const terms = parts.map(({part, weight, value}) => `${short(weight)} × ${part} ${short(value)}`);
  return `${short(total)} = ${terms.join(' + ')}`;
}

/** Why the newest generate did not take it, or what came of it where it did. */
function lastTurn(explanation: Explanation): string {
  const [passed] = explanation.passedOver;
  const [taken] = explanation.selections;
  if (taken !== undefined && (passed === undefined || taken.segment > passed.segment)) {
    const outcome = outcomeIn(explanation, taken.segment);
    return `${outcome[0]!.toLowerCase()}${outcome.slice(1)}`;
  }
  return passed === undefined
    ? 'no generate has selected it'
    : `the generate of segment ${passed.segment} passed it over, ${passing(passed)}`;
}

function passing({verdict, detail}: Explanation['passedOver'][number], why: Why = because): string {
  return isReason(verdict) ? `${why(verdict)}: ${detail}` : `${verdict}: ${detail}`;
}

function isReason(word: string): word is Reason {
  return (reasonNames as readonly string[]).includes(word);
}

/** What came of a URL's selection for a segment. */
function outcomeIn({captures}: Explanation, segment: string): string {
  const capture = captures.find((one) => one.segment === segment && one.hop === 0);
  if (capture === undefined) return `Selected for segment ${segment}`;
  const why = capture.reason === null ? '' : `: ${because(capture.reason)}`;
  return `Ended as ${capture.status} in segment ${segment}${why}`;
}

function stateOf({segment_info}: Explanation['selections'][number]): string {
  return segment_info === null ? 'dropped' : stageOf(segment_info);
}

function because(reason: Reason): string {
  return `${reason} (${reasonFacts(reason).doc.replace(/\.$/, '')})`;
}

type Why = (reason: Reason) => string;

function sections(explanation: Explanation, now: number, why: Why): [string, string[]][] {
  const {
    steps,
    scope,
    row,
    seeds,
    priority,
    selections,
    passedOver,
    captures,
    parses,
    links,
    refusals,
    host,
  } = explanation;
  const at = (time: Date) =>
    `${time.toISOString().replace(/\.\d+Z$/, 'Z')} (${time.getTime() > now ? `in ${span(time.getTime() - now)}` : `${span(now - time.getTime())} ago`})`;
  return [
    ['normalized', steps.length === 0 ? [] : steps.map(({name, url}) => `${name}: ${url}`)],
    [
      'scope',
      scope === null
        ? []
        : [
            `${scope.accepted ? 'accepted' : `rejected, ${why(scope.reason)}`}${scope.rule ? `; rule ${scope.rule}` : ''}`,
          ],
    ],
    [
      'injected',
      seeds.map(
        (seed) =>
          `${at(seed.injected_time)} by ${seed.source}:${seed.line}: ${seed.outcome}${seed.reason ? `, ${why(seed.reason)}` : ''}`,
      ),
    ],
    [
      'found',
      row === null
        ? []
        : [
            `${at(row.discovered_time)} ${row.discovered_from === null ? 'as a seed' : `on ${row.discovered_from}`}, ${counted(row.depth, 'link')} from its seed${row.seed === null || row.seed === row.url ? '' : ` ${row.seed}`}${row.tag === null ? '' : `, tag ${row.tag}`}`,
          ],
    ],
    [
      'state',
      row === null
        ? []
        : [
            `${row.status}${row.reason === null ? '' : `, ${why(row.reason)}`}; score ${short(row.score)}, ${counted(row.visits, 'visit')}, ${counted(row.changes, 'change')}, ${counted(row.retries, 'failure')} since the last success, ${counted(row.inlinks, 'page links', 'pages link')} to it${row.history_frozen === true ? '; its history leaves out a visit that came to be known too late' : ''}`,
          ],
    ],
    ['priority', priority === null ? [] : [priorityText(priority)]],
    [
      'schedule',
      row === null
        ? []
        : [
            `due ${at(row.next_fetch_time)}; interval ${span(row.fetch_interval_s * 1000)}${row.fixed_interval ? ', fixed' : ''}`,
          ],
    ],
    [
      'selected',
      selections.map(
        (one) =>
          `segment ${one.segment} (${stateOf(one)}): rank ${one.rank}, as ${one.selected_as}, score ${short(one.score)}`,
      ),
    ],
    [
      'passed over',
      passedOver.map(
        (one) =>
          `segment ${one.segment} (${at(one.time)}): ${passing(one, why)}${one.present ? '; by the present crawldb, as that one is kept no more' : ''}`,
      ),
    ],
    ['fetched', captures.map((one) => captureText(one, at, why))],
    [
      'parsed',
      parses.map(
        (one) =>
          `segment ${one.segment}, parse ${one.parse_id}: ${one.status}${one.reason === null ? '' : `, ${why(one.reason)}`}; ${[one.content_mime_detected, one.content_charset, one.text_length === null ? null : `${count(one.text_length)} characters`, counted(one.outlinks, 'link'), one.robots_noindex ? 'noindex' : null, one.robots_nofollow ? 'nofollow' : null, one.title === null ? null : `“${one.title}”`].filter(Boolean).join(', ')}`,
      ),
    ],
    ['robots.txt', robotsText(explanation, at)],
    ['host', hostText(host, at, now)],
    [
      'not added',
      refusals.map(
        (one) =>
          `${at(one.refused_time)} segment ${one.segment}: ${why(one.reason)}${one.from_url === null ? '' : `; found on ${one.from_url}`}`,
      ),
    ],
    [
      'links to it',
      links.total === 0
        ? []
        : [
            `${counted(links.total, 'link')}, ${count(links.accepted)} accepted${Object.keys(links.reasons).length === 0 ? '' : `; rejected: ${reasonList(links.reasons)}`}`,
            ...links.newest.map(
              (link) =>
                `${link.accepted ? '+' : '-'} ${link.from_url} (${link.kind}${link.anchor ? `, “${link.anchor.slice(0, 60)}”` : ''})${link.reason === null ? '' : ` ${why(link.reason)}`}${link.rule ? `, rule ${link.rule}` : ''}`,
            ),
          ],
    ],
  ];
}

function captureText(one: Explanation['captures'][number], at: (time: Date) => string, why: Why): string {
  const facts = [
    one.fetch_status === null ? null : `HTTP ${one.fetch_status}`,
    one.status,
    one.reason === null ? null : why(one.reason),
    one.reason_detail,
    one.fetch_redirect === null ? null : `to ${one.fetch_redirect}`,
    one.content_length === null
      ? null
      : `${one.content_mime_type ?? 'no type'}, ${bytes(one.content_length)}`,
    one.total_ms === null ? null : `${Math.round(one.total_ms)} ms`,
    one.ip_address,
    one.hop > 0 ? `hop ${one.hop} of ${one.origin_url}` : null,
  ];
  return `${at(one.fetch_time)} segment ${one.segment}: ${facts.filter((fact) => fact !== null).join(', ')}`;
}

function robotsText({robots}: Explanation, at: (time: Date) => string): string[] {
  if (robots === null) return [];
  const {answer: verdict} = robots;
  const rule =
    verdict.rule === null
      ? robots.verdict === 'rules'
        ? 'no rule matches'
        : robots.verdict
      : `line ${verdict.line}: ${verdict.rule}`;
  const delay = robots.crawl_delay_s === null ? '' : `; Crawl-delay ${robots.crawl_delay_s} s`;
  const trouble = robots.reason === null ? '' : `; the last attempt failed: ${robots.reason}`;
  return [
    `${verdict.allowed ? 'allowed' : 'forbidden'} (${rule}), read ${at(robots.fetched_time)}${delay}${trouble}`,
  ];
}

function hostText(
  {state, stats, rules}: Explanation['host'],
  at: (time: Date) => string,
  now: number,
): string[] {
  const lines: string[] = [];
  if (stats)
    lines.push(
      `${stats.url_host_name}: ${counted(stats.urls, 'known URL')}, ${counted(stats.pages_fetched, 'page')} fetched, ${bytes(stats.body_bytes)}`,
    );
  if (state) {
    const asked = state.next_allowed_time.getTime() <= now ? 'now' : at(state.next_allowed_time);
    const trouble =
      state.failures > 0 ? `; ${counted(state.failures, 'failure')} in a row, last ${state.last_reason}` : '';
    lines.push(`may be asked ${asked}; delay ${span(state.delay_ms)} by ${state.delay_term}${trouble}`);
    lines.push(`the longest of: ${delayText(state, state.delay_term)}`);
  }
  for (const rule of rules) lines.push(`rule by hand, ${rule.url_host_name}: ${ruleText(rule)}`);
  return lines;
}
