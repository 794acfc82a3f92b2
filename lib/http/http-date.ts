/**
 * Dates as the web writes them, to milliseconds since the epoch or null. `Date.parse` is no help: it
 * reads `0` and `-1` as dates and a date without zone in the zone of the machine.
 */

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Hours from UTC: RFC 822, section 5.1, the only names that have one meaning. */
const zones: Readonly<Record<string, number>> = {
  gmt: 0,
  utc: 0,
  ut: 0,
  z: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};

const dayFirst =
  /^(?:[a-z]{3,9}\.?,?\s{1,9})?(\d{1,2})[\s-]{1,9}([a-z]{3,9})\.?,?[\s-]{1,9}(\d{4}|\d{2})(?:,?\s{1,9}(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?)?\s{0,9}([a-z]{1,4}|(?:gmt|utc)?[+-]\d{2}:?\d{2})?$/;
const asctime =
  /^[a-z]{3,9}\s{1,9}([a-z]{3,9})\s{1,9}(\d{1,2})\s{1,9}(\d{1,2}):(\d{2}):(\d{2})\s{1,9}(?:(?:gmt|utc)\s{1,9})?(\d{4})$/;

/**
 * An HTTP date: the three forms that every recipient must accept, and their usual deviations: one-digit
 * day, any letter case, a numeric or American zone, no seconds or no time, a `; length=…` behind. The
 * weekday is not checked. Two-digit years are 1970 to 2069 (RFC 6265, 5.1.1). No zone means UTC; an
 * unknown one makes it no date.
 *
 * @returns milliseconds since the epoch, or null
 * @see RFC 9110, section 5.6.7; RFC 5322, section 4.3
 */
export function parseHttpDate(value: string): number | null {
  if (value.length > 200) return null; // chosen: the longest real form has about 40 characters
  const text = value.split(';', 1)[0]!.trim().toLowerCase();
  const a = asctime.exec(text);
  if (a !== null) return instant(a[6]!, monthOf(a[1]!), a[2]!, a[3]!, a[4]!, a[5]!, 0);
  const d = dayFirst.exec(text);
  if (d === null) return null;
  const offset = zoneMinutes(d[7]);
  if (offset === null) return null;
  return instant(d[3]!, monthOf(d[2]!), d[1]!, d[4] ?? '0', d[5] ?? '0', d[6] ?? '0', offset);
}

const iso =
  /^(\d{4})(?:-?(\d{1,2})(?:-?(\d{1,2})(?:(?:t|\s{1,9})(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?\s{0,9}([a-z]{1,4}|[+-]\d{2}(?::?\d{2})?)?)?)?)?$/;

/**
 * A date by ISO 8601 as the W3C's profile has it (year, month, day, minute, second, fraction), with
 * a blank for `T` and one-digit months accepted. No zone means UTC.
 *
 * @returns milliseconds since the epoch, or null
 * @see https://www.w3.org/TR/NOTE-datetime; RFC 3339
 */
export function parseIsoDate(value: string): number | null {
  if (value.length > 200) return null;
  const m = iso.exec(value.trim().toLowerCase());
  if (m === null) return null;
  const offset = zoneMinutes(m[8]);
  if (offset === null) return null;
  const month = m[2] === undefined ? 0 : Number(m[2]) - 1;
  const whole = instant(m[1]!, month, m[3] ?? '1', m[4] ?? '0', m[5] ?? '0', m[6] ?? '0', offset);
  return whole === null ? null : whole + Math.floor(Number('0.' + (m[7] ?? '0')) * 1000);
}

/** Either form: what feeds, sitemaps and `unavailable_after` contain. */
export function parseAnyDate(value: string): number | null {
  return parseIsoDate(value) ?? parseHttpDate(value);
}

function monthOf(name: string): number {
  return months.indexOf(name.slice(0, 3));
}

/** Minutes east of UTC; null for a zone that is not known. */
function zoneMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === '') return 0;
  const signed = /^(?:gmt|utc)?([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (signed !== null) {
    const minutes = Number(signed[2]) * 60 + Number(signed[3] ?? '0');
    return minutes > 24 * 60 ? null : signed[1] === '-' ? -minutes : minutes;
  }
  return Object.hasOwn(zones, zone) ? zones[zone]! * 60 : null;
}

function instant(
  yearText: string,
  month: number,
  dayText: string,
  hourText: string,
  minuteText: string,
  secondText: string,
  offsetMinutes: number,
): number | null {
  let year = Number(yearText);
  if (yearText.length === 2) year += year < 70 ? 2000 : 1900;
  const [day, hour, minute, second] = [dayText, hourText, minuteText, secondText].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  // 24:00 is the end of a day in ISO 8601; second 60 is a leap second and counts as the next one.
  if (hour > 24 || (hour === 24 && minute + second > 0) || minute > 59 || second > 60) return null;
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month, day); // unlike Date.UTC, takes years below 100 as they are
  if (month < 0 || midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return null;
  return midnight.getTime() + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000;
}
