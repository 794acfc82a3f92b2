/** `48210` → `48 210`. */
export function count(value: number | bigint): string {
  return String(value).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

/** `1 page`, `48 210 pages`, `0 pages`. */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}

/** A time span in two units at most: `40 ms`, `1.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const first = units.findIndex(([, length]) => seconds >= length);
  const [unit, length] = units[first]!;
  const next = units[first + 1];
  const rest = next === undefined ? 0 : Math.floor((seconds % length) / next[1]);
  return `${Math.floor(seconds / length)} ${unit}${rest === 0 ? '' : ` ${rest} ${next![0]}`}`;
}

/** `512 B`, `64.0 KiB`, `1.5 GiB`. */
export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const power = Math.min(4, Math.floor(Math.log2(value) / 10));
  return `${(value / 2 ** (10 * power)).toFixed(1)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
}

/** Control characters and marks that turn writing direction, made visible: pages must not steer a terminal. */
export function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (char) =>
    char === '\n' ? '\\n' : char === '\t' ? '\\t' : `\\u{${char.codePointAt(0)!.toString(16)}}`,
  );
}
