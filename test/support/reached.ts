import {setTimeout as delay} from 'node:timers/promises';

/**
 * Waits until the condition holds, which `running` is to bring about: a job, or the exit of a process.
 * @throws {Error} When `running` has ended and the condition does not hold, with its error as the cause; waiting
 *     on would be for ever.
 */
export async function reached(holds: () => boolean, running: Promise<unknown>): Promise<void> {
  let ended: {readonly outcome: unknown} | undefined;
  const end = (outcome: unknown) => {
    ended = {outcome};
  };
  running.then(end, end);
  while (!holds()) {
    if (ended !== undefined)
      throw new Error('it ended before what the test waits for', {cause: ended.outcome});
    await delay(2);
  }
}
