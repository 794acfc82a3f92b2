import type {Config} from '../config/settings.ts';
import {type PlaceLimits, SharedPlaces} from './places.ts';
import {RateLimit} from './rate.ts';
import {SharedVisits} from './visits.ts';

/** What tasks of one fetch in one process hold together: requests at once, those a second, bytes a second, delays. */
export interface SharedLimits {
  readonly places: SharedPlaces;
  readonly rate: RateLimit;
  readonly visits: SharedVisits;
}

export function sharedLimits(config: Config, maxActive: number): SharedLimits {
  return {
    places: new SharedPlaces(placeLimits(config, maxActive)),
    rate: rateOfAll(config),
    visits: new SharedVisits(),
  };
}

/** fetch.max_rate and fetch.max_bandwidth. */
export function rateOfAll({fetch}: Config): RateLimit {
  return new RateLimit(fetch.max_rate ?? null, fetch.max_bandwidth ?? null);
}

export function placeLimits({politeness}: Config, maxActive: number): PlaceLimits {
  return {maxActive, maxPerAddress: politeness.max_per_ip, maxPerDomain: politeness.max_per_domain};
}
