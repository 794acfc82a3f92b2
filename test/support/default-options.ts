import type {Job} from '../../jobs/job.ts';
import {defaultValue} from '../../lib/kinds.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';

/** The options of a job as a command line without any gives them. */
export function defaultOptions<O extends OptionDeclarations>(job: Pick<Job<O>, 'options'>): OptionValues<O> {
  const values = Object.entries(job.options).map(([name, declaration]) => [name, defaultValue(declaration)]);
  return Object.fromEntries(values) as OptionValues<O>; // a value of its kind for each declared option
}
