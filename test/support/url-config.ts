import {loadConfig} from '../../lib/config/load.ts';
import type {Config} from '../../lib/config/settings.ts';

/** The default configuration, for tests of URLs and scope. */
export const defaultConfig: Config = loadConfig({env: {}}).config;
