import {formatValue} from '../../lib/kinds.ts';
import {type Config, type ConfigWithOrigins, environmentName, placeOf, settingsByName} from './open.ts';

/** One line of `crawl config`. */
export interface ConfigRow {
  /** `politeness.min_delay`. */
  readonly setting: string;
  /** As it would be written; null where there is none. */
  readonly value: string | null;
  /** `default`, `crawl.yaml:12`, the variable, or the flag. */
  readonly origin: string;
  readonly environment: string;
  readonly doc: string;
}

/** All settings, or those whose name begins with `prefix`, with value and origin. */
export function configReport({config, origins}: ConfigWithOrigins, prefix = ''): ConfigRow[] {
  return [...settingsByName]
    .filter(([setting]) => setting === prefix || prefix === '' || setting.startsWith(`${prefix}.`))
    .map(([setting, declaration]) => {
      const [section = '', key = ''] = setting.split('.');
      // Built from the same declarations
      const value = (config as unknown as Record<string, Config[keyof Config]>)[section]?.[key as never];
      return {
        setting,
        value: value === undefined ? null : formatValue(declaration, value),
        origin: placeOf(origins[setting] ?? {kind: 'default'}),
        environment: environmentName(setting),
        doc: declaration.doc,
      };
    });
}
