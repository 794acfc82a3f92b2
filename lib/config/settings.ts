import type {OptionDeclarations, OptionValues} from '../options.ts';
import {fetchSettings} from './fetch-settings.ts';
import {pageSettings} from './page-settings.ts';
import {roundSettings} from './round-settings.ts';

/**
 * All settings of crawl.yaml, declared once. Sections in the file are the keys here; a setting is written
 * `politeness.min_delay` in messages, CRAWL_POLITENESS_MIN_DELAY in the environment.
 */
export const settings = {
  ...fetchSettings,
  ...pageSettings,
  ...roundSettings,
} as const satisfies Readonly<Record<string, OptionDeclarations>>;

export type SectionName = keyof typeof settings;
/** The whole configuration, all values parsed: durations in ms, sizes in bytes. */
export type Config = {readonly [S in SectionName]: OptionValues<(typeof settings)[S]>};
