import cliProgress from 'cli-progress';
import type {Progress} from '../lib/effects.ts';
import {bytes, count, span, visible} from './words.ts';

const patienceMs = 1000; // STYLE: progress for everything longer than a second

/** The line `fetch  1 204 of 48 210 pages · 12.3/s · 3 min left`. */
export function progressLine(title: string, point: Progress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? point.done / (elapsedMs / 1000) : 0;
  const parts = [
    `${title}  ${count(point.done)}${point.total === undefined ? '' : ` of ${count(point.total)}`} ${point.unit}`,
    `${rate >= 100 ? count(Math.round(rate)) : rate.toFixed(1)}/s`,
  ];
  const byRate =
    point.total !== undefined && rate > 0 && point.total > point.done
      ? ((point.total - point.done) / rate) * 1000
      : undefined;
  const leftMs = point.leftMs ?? byRate;
  if (leftMs !== undefined) parts.push(`${span(leftMs)} left`);
  for (const [name, value] of Object.entries(point.facts ?? {}))
    if (name === 'bytes' && typeof value === 'number') parts.push(bytes(value));
    else if (typeof value === 'string') parts.push(`${name.replaceAll('_', ' ')} ${visible(value)}`);
    else parts.push(`${count(value)} ${name.replaceAll('_', ' ')}`);
  return parts.join(' · ');
}

export interface ProgressBar {
  report(point: Progress): void;
  /** Takes the line off the screen while `write` writes something else. */
  aside(write: () => void): void;
  stop(): void;
}

/** A progress line on a terminal, shown from the second second on. */
export function progressBar(
  title: string,
  stream: NodeJS.WritableStream & {readonly columns?: number},
  monotonic: () => number,
): ProgressBar {
  const started = monotonic();
  let latest: Progress | undefined;
  let showing = false;
  const bar = new cliProgress.SingleBar({
    stream,
    clearOnComplete: true,
    hideCursor: true,
    forceRedraw: true,
    fps: 4, // chosen: numbers that can still be read
    linewrap: true, // the line is cut to the width here
    format: () =>
      latest === undefined
        ? ''
        : progressLine(title, latest, monotonic() - started).slice(0, (stream.columns || 80) - 1),
  });
  const clear = () => stream.write('\r\u001b[K');
  return {
    report(point) {
      latest = point;
      if (showing) bar.update(point.done);
      else if (monotonic() - started >= patienceMs) {
        showing = true;
        bar.start(point.total ?? 1, point.done);
      }
    },
    aside(write) {
      if (showing) clear();
      write();
    },
    stop() {
      if (!showing) return;
      showing = false;
      bar.stop();
      clear();
    },
  };
}
