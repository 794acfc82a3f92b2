import {parsePage} from '../../lib/parse/page.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';

const beyond = `<!--${'x'.repeat(pageOptions.maxText)}-->`;
const entry = `<a href="f.tar.gz">f.tar.gz</a>${' '.repeat(30)}2026-01-01 10:00  12345678\n`;

/**
 * CPU of pages that are made to hurt, at a quarter, a half and the whole of their size: `tsx test/bench/parse-linear.ts`.
 * Linear time doubles from column to column.
 */
const shapes: Readonly<Record<string, (share: number) => string>> = {
  '1 M links, 10 MB': (share) => '<a href=1>\n'.repeat(1e6 * share),
  '1 M links with text': (share) => '<a href=/p>x</a>'.repeat(1e6 * share),
  '1 M nested tags': (share) => '<div>'.repeat(1e6 * share),
  '1 M nested links and headings': (share) => '<h1><a href=x>'.repeat(5e5 * share),
  '1 M attributes of one tag': (share) =>
    `<p ${Array.from({length: 1e6 * share}, (_, at) => `a${at}=1`).join(' ')}>`,
  '1 M times the same attribute': (share) => `<a ${'href=x '.repeat(1e6 * share)}>`,
  'a title of 5 MB': (share) => `<title>${'a b '.repeat(1.25e6 * share)}`,
  'an attribute of 10 MB': (share) => `<a href="${'x'.repeat(1e7 * share)}">`,
  '1 M comments': (share) => '<!--x-->'.repeat(1e6 * share),
  '10 MB of <': (share) => '<'.repeat(1e7 * share),
  '10 MB of &': (share) => '&'.repeat(1e7 * share),
  '10 MB of quotes in CSS': (share) => `<style>${`url("'`.repeat(1.6e6 * share)}`,
  '10 MB of srcset': (share) => `<img srcset="${'a 1x,'.repeat(2e6 * share)}">`,
  '10 MB of JSON-LD brackets': (share) => `<script type="application/ld+json">${'['.repeat(1e7 * share)}`,
  '100,000 breaks in a heading': (share) => `<h1>${'word '.repeat(1998)}${'<br>'.repeat(1e5 * share)}`,
  '100,000 breaks in a link': (share) => `<a href=x>${'w '.repeat(399)}${'<br>'.repeat(1e5 * share)}`,
  // Longer than parse.max_text, and one block: the plain way reads it, and its limit ends the text.
  'a listing of 12,000 lines in pre': (share) => `${beyond}<pre>${entry.repeat(12_000 * share)}`,
  '60,000 links in a block': (share) => `${beyond}<p>${'<a href=x>y</a> '.repeat(60_000 * share)}`,
  '500,000 images in a link': (share) => `${beyond}<a href=x>${'y<img>'.repeat(5e5 * share)}`,
  '10 MB of spaces': (share) => `<p>${' '.repeat(1e7 * share)}x`,
};

function cpuMs(body: Buffer): number {
  const before = process.cpuUsage();
  parsePage(pageInput(body, ['Content-Type: text/html; charset=utf-8']), pageOptions);
  const {user, system} = process.cpuUsage(before);
  return (user + system) / 1000;
}

cpuMs(Buffer.from('<p>warm <a href=x>up</a>'.repeat(20_000)));
console.log(`${'shape'.padEnd(32)}  1/4 ms   1/2 ms     1 ms   half to whole`);
for (const [name, make] of Object.entries(shapes)) {
  const [quarter, half, whole] = [0.25, 0.5, 1].map((share) => cpuMs(Buffer.from(make(share))));
  const cells = [quarter!, half!, whole!].map((ms) => ms.toFixed(0).padStart(7)).join('  ');
  console.log(`${name.padEnd(32)}${cells}   ${(whole! / half!).toFixed(1)}`);
}
