import {type ConfigWithOrigins, placeOf} from '../../lib/config/load.ts';
import {CrawlError} from '../../lib/errors.ts';
import {parseHours} from '../../lib/fetcher/hours.ts';
import {boundsOf} from '../../lib/schedule/from-config.ts';
import {scheduleRules} from '../../lib/schedule/rules.ts';
import {parseOwnRules} from '../../lib/scope/own-form.ts';

/**
 * Reads fetch.hours, scope.rules and schedule.rules, so that a wrong one is told before a command begins and not
 * after hours of a fetch. A file of its own, since only those who have rules need to load what reads patterns.
 *
 * @throws CrawlError CONFIG_INVALID with file and line of the setting and the number of the rule
 */
export function checkRules({config, origins}: ConfigWithOrigins): void {
  const {fetch, scope, schedule} = config;
  told('scope.rules', () => {
    parseOwnRules(
      scope.rules.map((text, index) => [index + 1, text] as const),
      'scope.rules',
    );
  });
  told('schedule.rules', () => {
    scheduleRules(schedule.rules, boundsOf(schedule));
  });
  told('fetch.hours', () => {
    parseHours(fetch.hours);
  });

  function told(setting: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
      const {code, message, facts, hint} = error;
      const place = placeOf(origins[setting] ?? {kind: 'default'});
      throw new CrawlError(code, `${place}: ${message}`, {facts, hint, cause: error});
    }
  }
}
