/**
 * Session ids in URLs: each visit gets a new one, so that a site has no end.
 *
 * Names that mean nothing else go whatever their value. Names in plain use (`sid`, `s`, `sessionid`) go
 * only where the value looks minted: a long run of hex digits or letters with digits.
 * @see Nutch's regex-normalize.xml, Heritrix's StripSessionIDs and StripSessionCFIDs
 */
export interface SessionParameter {
  /** Matches the lower-case name. */
  readonly name: RegExp;
  /** Matches the value. */
  readonly value: RegExp;
  readonly reason: string;
}

const anything = /^/;
/** 32 or more hex digits: an MD5, as PHP and its forums mint them. */
const md5 = /^[0-9a-fA-F]{32,}$/;
/** 16 or more letters and digits, at least one a digit. */
const token = /^(?=[^0-9]*[0-9])[0-9A-Za-z_.-]{16,}$/;

export const sessionParameters: readonly SessionParameter[] = [
  {name: /^phpsessid$/, value: anything, reason: 'PHP'},
  {name: /^jsessionid$/, value: anything, reason: 'Java servlets'},
  {name: /^aspsessionid[a-z]*$/, value: anything, reason: 'ASP'},
  {name: /^asp\.net_sessionid$/, value: anything, reason: 'ASP.NET'},
  {name: /^cfid$/, value: /^[0-9a-fA-F-]+$/, reason: 'ColdFusion'},
  {name: /^cftoken$/, value: /^[0-9a-fA-F-]+$/, reason: 'ColdFusion'},
  {name: /^bv_(?:session|engine)id$/, value: anything, reason: 'BroadVision'},
  {name: /^(?:oscsid|xtcsid|zenid|zenadminid)$/, value: token, reason: 'osCommerce, xt:Commerce, Zen Cart'},
  {name: /^(?:sid|s|psid|sess|session)$/, value: md5, reason: 'phpBB, vBulletin and other PHP programs'},
  {name: /^(?:sessionid|session_id|sess_id|sessid)$/, value: token, reason: 'many programs'},
];

/** `;jsessionid=…` and the like at the end of a path segment. */
const pathParameter = /;(?:jsessionid|phpsessid|aspsessionid[a-z]*)=[^/;]*/gi;
/** ASP.NET without cookies: `/(S(24 letters and digits))/`, also with other parts beside S. */
const aspNetSegment = /\/\((?:[A-Za-z]\([0-9A-Za-z]{24}\))+\)(?=\/)/g;

/**
 * The path without session ids. What is left is parsed again by the caller: `/.;jsessionid=1` leaves a dot segment.
 */
export function stripPathSession(path: string): string {
  if (!path.includes(';') && !path.includes('(')) return path;
  return path.replace(pathParameter, '').replace(aspNetSegment, '');
}
