import {exitCodes, Interruption} from './exit-codes.ts';

/**
 * A signal that aborts on the first SIGINT or SIGTERM, so that jobs stop cleanly. The second leaves at once.
 * `release` puts the process back as it was.
 */
export function catchSignals(target: NodeJS.Process): {signal: AbortSignal; release(): void} {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGINT' && signal !== 'SIGTERM') return;
    if (controller.signal.aborted) target.exit(signal === 'SIGINT' ? exitCodes.sigint : exitCodes.sigterm);
    controller.abort(new Interruption(signal));
  };
  target.on('SIGINT', onSignal);
  target.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    release() {
      target.off('SIGINT', onSignal);
      target.off('SIGTERM', onSignal);
    },
  };
}
