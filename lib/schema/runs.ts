import {type Row, table} from './table.ts';

export const runs = table({
  name: 'runs',
  version: 1,
  doc: 'One row for each job run that was committed: its report.',
  key: ['run'],
  columns: {
    run: {type: 'text', doc: 'Run id: UTC time and job.', example: '20261130085512123-fetch'},
    job: {type: 'text', doc: 'Name of the job.'},
    segment: {type: 'text', nullable: true, doc: 'Segment that it was about, where it is one.'},
    started_time: {type: 'timestamp', doc: 'Start.'},
    finished_time: {type: 'timestamp', doc: 'End of its tasks, before the commit.'},
    duration_ms: {type: 'double', unit: 'milliseconds', doc: 'From start to end.'},
    cpu_ms: {type: 'double', unit: 'milliseconds', doc: 'Processor time of the process in that time.'},
    exit_code: {
      type: 'int16',
      doc: 'Exit code of the job as a command of its own: 0; of a fetch 5 if its window or a nearly full disk ended it, 130 or 143 if a signal did.',
    },
    tasks: {type: 'int32', doc: 'Tasks run.'},
    counters: {type: 'json', doc: 'Object of counters.'},
    reasons: {type: 'json', doc: 'Object of rows by reason.'},
    options: {type: 'json', doc: 'Options of the job.'},
    version: {type: 'text', doc: 'Version of the program.'},
  },
});
export type RunRow = Row<typeof runs>;
