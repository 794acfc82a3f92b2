import {type ResourceLimits, type TransferListItem, Worker} from 'node:worker_threads';

export interface ThreadSettings {
  readonly resourceLimits: ResourceLimits;
  readonly workerData?: unknown;
  readonly transferList?: readonly TransferListItem[];
}

/**
 * A worker thread on one of our modules, named without its ending. From the sources it needs tsx on Node 20, which
 * cannot load a `.ts` worker by itself: the thread registers tsx first. In the built package the module is JavaScript.
 *
 * @param base `import.meta.url` of the caller
 */
export function startThread(name: string, base: string, settings: ThreadSettings): Worker {
  const built = base.endsWith('.js');
  const module = new URL(`${name}${built ? '.js' : '.ts'}`, base);
  const {transferList = [], ...options} = settings;
  if (built) return new Worker(module, {...options, transferList: [...transferList]});
  const tsx = import.meta.resolve('tsx/esm/api');
  const code = `import(${JSON.stringify(tsx)}).then(({register}) => { register(); return import(${JSON.stringify(module.href)}); })`;
  return new Worker(code, {...options, transferList: [...transferList], eval: true, execArgv: []});
}
