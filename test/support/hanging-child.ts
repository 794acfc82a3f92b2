/** Asks a server that never answers for many things at once, and says what came of it after a moment: a count a reason. */
import {loopbackClient} from './loopback-client.ts';

const [origin = '', count = '0'] = process.argv.slice(2);
const client = loopbackClient({connectTimeoutMs: 5_000});
const reasons = new Map<string, number>();
const running = Array.from({length: Number(count)}, async (_, n) => {
  const {reason, detail} = await client.exchange({url: `${origin}/${n}`, headers: [], maxBody: 1});
  const said = `${reason}: ${detail?.replace(/\d+\.\d+\.\d+\.\d+:\d+.*/, '')}`;
  reasons.set(said, (reasons.get(said) ?? 0) + 1);
});
// Those that have a connection hang; all others have failed when one more has.
await Promise.race(running);
await new Promise(setImmediate);
await client.close();
await Promise.all(running);
console.log(JSON.stringify(Object.fromEntries(reasons)));
