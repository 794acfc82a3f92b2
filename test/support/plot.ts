/** Plots in Markdown, as the blocks that common viewers draw; written by benches from their figures. */

export interface Curve {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Plot {
  readonly title: string;
  readonly xTitle: string;
  /** First and last value of the axis; values of a curve lie at even distances between them. */
  readonly xRange: readonly [number, number];
  readonly yTitle: string;
  readonly yRange: readonly [number, number];
  readonly curves: readonly Curve[];
  /** Decimals that are shown. */
  readonly decimals: number;
}

const block = '```';
/** Of Okabe and Ito's set, which colour-blind people can tell apart. */
const colours = [
  ['blue', '#0072b2'],
  ['orange', '#d55e00'],
  ['green', '#009e73'],
  ['pink', '#cc79a7'],
  ['grey', '#777777'],
] as const;

/** A line for each curve. Viewers draw no legend, so the line above the block names the colours. */
export function lineChart(plot: Plot): string {
  const {title, xTitle, xRange, yTitle, yRange, curves, decimals} = plot;
  if (curves.length > colours.length) throw new Error(`${curves.length} curves, ${colours.length} colours`);
  const palette = colours.map(([, code]) => code).join(', ');
  return [
    `${curves.map(({name}, at) => `${name} ${colours[at]![0]}`).join(', ')}:`,
    '',
    `${block}mermaid`,
    `%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "${palette}"}}}}%%`,
    'xychart-beta',
    `  title "${title}"`,
    `  x-axis "${xTitle}" ${xRange[0]} --> ${xRange[1]}`,
    `  y-axis "${yTitle}" ${yRange[0]} --> ${yRange[1]}`,
    ...curves.map(({values}) => `  line [${values.map((value) => value.toFixed(decimals)).join(', ')}]`),
    block,
  ].join('\n');
}

export interface Bars {
  readonly title: string;
  readonly yTitle: string;
  readonly yRange: readonly [number, number];
  readonly bars: readonly {readonly name: string; readonly value: number}[];
  /** Decimals that are shown. */
  readonly decimals: number;
}

/** A bar for each name. */
export function barChart({title, yTitle, yRange, bars, decimals}: Bars): string {
  return [
    `${block}mermaid`,
    'xychart-beta',
    `  title "${title}"`,
    `  x-axis [${bars.map(({name}) => `"${name}"`).join(', ')}]`,
    `  y-axis "${yTitle}" ${yRange[0]} --> ${yRange[1]}`,
    `  bar [${bars.map(({value}) => value.toFixed(decimals)).join(', ')}]`,
    block,
  ].join('\n');
}
