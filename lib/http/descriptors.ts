import {readFileSync} from 'node:fs';

/** Where the system does not say: what most allow at least. */
const assumedLimit = 4_096;
/** Descriptors for everything that is no connection to a host: files, journals, DNS, standard streams. */
const reserved = 200;

/**
 * Open files that this process may have. Node has raised the soft limit to the hard one when it started, so this is the
 * hard one; to raise that is the system's matter (`ulimit -Hn`, LimitNOFILE of systemd).
 */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return soft === undefined ? assumedLimit : Number(soft);
  } catch {
    return assumedLimit; // no /proc: not Linux
  }
}

/** Connections to hosts that fit into the limit; at least one. */
export function connectionLimit(limit = descriptorLimit()): number {
  return Math.max(1, limit - reserved);
}
