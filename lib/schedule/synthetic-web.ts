/**
 * Pages that change, for simulations of schedules. Times are seconds from the start, rates changes a second; chance comes
 * in, so that a seed makes the same web again.
 */
export interface ChangingPage {
  /** Mean rate over a long time. */
  readonly rate: number;
  readonly weight: number;
  /** Time of the first change after `time`; asked with times that never fall. */
  nextChange(time: number): number;
}

export type Random = () => number;
export const webKinds = ['poisson', 'clumped', 'cycles', 'bursts'] as const;
export type WebKind = (typeof webKinds)[number];

const dayS = 86_400;

/** Numbers in [0, 1) from a seed; mulberry32, whose period is enough for a simulation. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface WebShape {
  readonly kind: WebKind;
  readonly pages: number;
  /** Rates are spread evenly over the logarithm, changes a day. */
  readonly leastRate: number;
  readonly mostRate: number;
}

export function syntheticWeb({kind, pages, leastRate, mostRate}: WebShape, random: Random): ChangingPage[] {
  return Array.from({length: pages}, () => {
    const rate =
      (kind === 'clumped' ? clumpedRate(leastRate, mostRate, random) : spread(leastRate, mostRate, random)) /
      dayS;
    switch (kind) {
      case 'poisson':
      case 'clumped':
        return poissonPage(rate, random);
      case 'cycles':
        return cyclingPage(rate, random);
      case 'bursts':
        return burstingPage(rate, random);
    }
    return kind satisfies never;
  });
}

function spread(least: number, most: number, random: Random): number {
  return least * (most / least) ** random();
}

/**
 * Three kinds of pages: half show something that is new at each visit (the fastest quarter of the rates), a third are
 * lists and articles at work (around a hundredth of that), the others an archive (the slowest quarter).
 */
function clumpedRate(least: number, most: number, random: Random): number {
  const at = (share: number) => least * (most / least) ** share;
  const kind = random();
  if (kind < 0.5) return spread(at(0.75), most, random);
  if (kind < 0.5 + 1 / 3) return spread(at(0.2), at(0.45), random);
  return spread(least, at(0.25), random);
}

const wait = (rate: number, random: Random) => -Math.log(1 - random()) / rate;

function poissonPage(rate: number, random: Random): ChangingPage {
  return {rate, weight: 1, nextChange: (time) => time + wait(rate, random)};
}

/** Changes in the working hours of its place alone: none for two thirds of the day, three times as many in the others. */
function cyclingPage(rate: number, random: Random): ChangingPage {
  const open = random() * dayS;
  return {
    rate,
    weight: 1,
    nextChange(time) {
      for (let at = time; ; ) {
        const hour = (((at - open) % dayS) + dayS) % dayS;
        if (hour >= dayS / 3) at += dayS - hour;
        else {
          const next = at + wait(3 * rate, random);
          if (next - at < dayS / 3 - hour) return next;
          at += dayS / 3 - hour;
        }
      }
    },
  };
}

/** Bursts of some ten changes at ten times the rate, then quiet for as long as makes the mean right. */
function burstingPage(rate: number, random: Random): ChangingPage {
  const burstS = 1 / rate;
  let end = random() < 0.1 ? wait(1 / burstS, random) : 0;
  let start = 0;
  return {
    rate,
    weight: 1,
    nextChange(time) {
      for (let at = time; ; ) {
        while (at >= end) {
          start = end + wait(1 / (9 * burstS), random);
          end = start + wait(1 / burstS, random);
        }
        at = Math.max(at, start);
        const next = at + wait(10 * rate, random);
        if (next < end) return next;
        at = end;
      }
    },
  };
}
