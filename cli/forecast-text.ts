import type {Forecast} from '../lib/selection/selection.ts';
import {bytes, counted, span, visible} from './words.ts';

/** A segment as the jobs that make fetchlists report it. */
export interface ForecastSegment {
  readonly id: string;
  readonly urls: number;
  readonly hosts: number;
  readonly forecast: Forecast;
}

export function describeList({id, urls, hosts}: ForecastSegment): string {
  return `segment ${id}: ${counted(urls, 'URL')} of ${counted(hosts, 'host')}`;
}

const slowestShown = 3;

/** What the fetch will take, and which hosts it will wait for. */
export function forecastLines({id, forecast}: ForecastSegment, now: number): string[] {
  const {requests, bytes: size, disk_bytes, duration_ms, slowest} = forecast;
  const end = new Date(now + duration_ms).toISOString().replace(/\.\d+Z$/, 'Z');
  const hosts = slowest
    .slice(0, slowestShown)
    .map(({host, urls, duration_ms: ms}) => `${visible(host)} ${span(ms)} for ${counted(urls, 'URL')}`);
  return [
    `forecast for ${id}: ${counted(requests, 'request')}, ${bytes(size)}, ${bytes(disk_bytes)} on disk; begun now it ends in ${span(duration_ms)}, at ${end}`,
    ...(hosts.length === 0 ? [] : [`longest: ${hosts.join(', ')}`]),
  ];
}
