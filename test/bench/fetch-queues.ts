/**
 * Picking the next host at 1k, 10k and 100k hosts, ten URLs each, and the memory of a fetchlist that large.
 * Run: node --expose-gc --import tsx test/bench/fetch-queues.ts
 */
import {FetchHosts} from '../../lib/fetcher/hosts.ts';
import {FetchQueues} from '../../lib/fetcher/queues.ts';
import {Worklist} from '../../lib/fetcher/worklist.ts';
import {configOf, listRow} from '../support/fetch-sim.ts';

const collect = globalThis.gc ?? (() => undefined);
const config = configOf();

for (const hosts of [1000, 10_000, 100_000]) {
  collect();
  const before = process.memoryUsage();
  const queues = new FetchQueues({maxActive: 256, maxPerHost: 1, maxPerAddress: 4, maxPerDomain: 4});
  const table = new FetchHosts(config.politeness, queues);
  const worklist = new Worklist();
  const startLoad = performance.now();
  for (let path = 0; path < 10; path++)
    for (let host = 0; host < hosts; host++) {
      const row = listRow(`http://www.host${host}.example/section/${path}/a-page-of-some-length.html`, path);
      const entry = table.host(row.url_host_name, row.url_host_registered_domain, row.host_key);
      queues.push(entry.queue, worklist.add(row));
    }
  const loadMs = performance.now() - startLoad;
  for (const host of table) table.setAddresses(host, [`192.0.${host.hostKey % 250n}.1`]);
  collect();
  const after = process.memoryUsage();
  // 256 requests run at a time; each takes 100 ms, then the host rests a second.
  let now = 0;
  const running: {host: Parameters<FetchQueues['finished']>[0]; ends: number}[] = [];
  let picks = 0;
  let head = 0;
  const cpu = process.cpuUsage();
  const most = 200_000;
  while (picks < most) {
    const turn = queues.next(now);
    if (turn.kind === 'done') break;
    if (turn.kind === 'ready') {
      const item = queues.take(turn.host, now);
      worklist.urlOf(item);
      running.push({host: turn.host, ends: now + 100});
      picks++;
      continue;
    }
    const ended = running[head];
    if (ended === undefined) {
      now = turn.kind === 'wait' ? turn.until : now + 1;
      continue;
    }
    now = Math.max(now, ended.ends);
    head++;
    queues.finished(ended.host, now + 1000);
  }
  const used = process.cpuUsage(cpu);
  const mb = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
  console.log(
    `${hosts} hosts, ${worklist.listed} URLs: ${((used.user + used.system) / picks).toFixed(2)} µs CPU a turn (${picks} turns), ` +
      `loaded in ${loadMs.toFixed(0)} ms, ${mb(after.heapUsed + after.external + after.arrayBuffers - before.heapUsed - before.external - before.arrayBuffers)} MB, RSS ${mb(process.memoryUsage().rss)} MB`,
  );
}
