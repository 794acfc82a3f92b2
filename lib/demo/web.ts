/**
 * The demo's web: three hosts whose pages are made from their path, so that what a crawl must find can be said in
 * numbers. A news site with decorated links, print copies and a forbidden page; a small shop; a calendar without end.
 */
export interface DemoPage {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export const demoHosts = ['news.test', 'shop.test', 'trap.test'] as const;
export const demoSeeds: readonly string[] = demoHosts.map((host) => `http://${host}/`);

/** What a crawl of the demo web with a budget of 80 pages a host must report. */
export const demoFacts = {
  budgetPerHost: 80,
  pages: {'news.test': 61, 'shop.test': 21, 'trap.test': 80},
  pagesTotal: 162,
  refusedByRobots: 1,
  duplicates: 30,
  unique: 132,
  /** Links to URLs known already, on the news and shop sites: 30 decorated, 30 and 20 back home. */
  seenAgain: 80,
} as const;

const stories = 30;
const items = 20;
const daysAhead = 12;

/** The page of a host at a path with query, or undefined where there is no such host. */
export function demoPage(host: string, target: string): DemoPage | undefined {
  const path = target.split('?', 1)[0]!;
  switch (host) {
    case 'news.test':
      return newsPage(path);
    case 'shop.test':
      return shopPage(path);
    case 'trap.test':
      return trapPage(path);
    default:
      return undefined;
  }
}

function html(title: string, content: string): DemoPage {
  const body = `<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>${title}</title></head>\n<body>\n${content}\n</body>\n</html>\n`;
  return {status: 200, type: 'text/html; charset=utf-8', body};
}

const missing: DemoPage = {status: 404, type: 'text/plain; charset=utf-8', body: 'No such page.\n'};

function robots(lines: string): DemoPage {
  return {status: 200, type: 'text/plain; charset=utf-8', body: lines};
}

/** The number in a path such as /story/7, if it is between 1 and `last`. */
function numberIn(path: string, folder: string, last: number): number | undefined {
  if (!path.startsWith(folder)) return undefined;
  const number = Number(path.slice(folder.length));
  return Number.isInteger(number) && number >= 1 && number <= last && path === `${folder}${number}`
    ? number
    : undefined;
}

function counted(last: number, line: (number: number) => string): string {
  return Array.from({length: last}, (_, index) => line(index + 1)).join('\n');
}

function newsPage(path: string): DemoPage {
  if (path === '/robots.txt') return robots('User-agent: *\nDisallow: /private/\n');
  if (path === '/')
    return html(
      'The Loopback Herald',
      `<h1>The Loopback Herald</h1>\n<ul>\n${counted(
        stories,
        (i) =>
          `<li><a href="/story/${i}">${headline(i)}</a> <a href="/story/${i}?utm_source=home&amp;utm_medium=list">read on</a></li>`,
      )}\n</ul>\n<p><a href="/private/secret">Editors only</a></p>`,
    );
  const story = numberIn(path, '/story/', stories) ?? numberIn(path, '/print/', stories);
  return story === undefined ? missing : html(headline(story), storyText(story));
}

const subjects = ['Harbour', 'Library', 'Railway', 'Orchard', 'Observatory', 'Theatre'];
const events = [
  'opens a new wing',
  'celebrates its founding',
  'asks for volunteers',
  'publishes its accounts',
  'changes its hours',
];

function headline(i: number): string {
  return `${subjects[i % subjects.length]} ${events[i % events.length]}`;
}

/** The same for a story and its print page: an exact duplicate. */
function storyText(i: number): string {
  return `<h1>${headline(i)}</h1>
<p>Story number ${i} of thirty. The ${subjects[i % subjects.length]!.toLowerCase()} ${events[i % events.length]}, people say, and ${i * 7} of them came to see it.</p>
<p><a href="/">Home</a> <a href="/print/${i}">Print this story</a></p>`;
}

function shopPage(path: string): DemoPage {
  if (path === '/robots.txt') return missing;
  if (path === '/')
    return html(
      'Twenty Things',
      `<h1>Twenty Things</h1>\n<ul>\n${counted(items, (i) => `<li><a href="/item/${i}">Thing ${i}</a></li>`)}\n</ul>`,
    );
  const item = numberIn(path, '/item/', items);
  if (item === undefined) return missing;
  return html(
    `Thing ${item}`,
    `<h1>Thing ${item}</h1>\n<p>Costs ${item * 3 + 1} coins and weighs ${item * item} grams.</p>\n<p><a href="/">All things</a></p>`,
  );
}

/** Each day has a text of its own and links to the twelve days after it, for ever. */
function trapPage(path: string): DemoPage {
  if (path === '/robots.txt') return missing;
  const day = path === '/' ? 0 : numberIn(path, '/day/', Number.MAX_SAFE_INTEGER - daysAhead);
  if (day === undefined) return missing;
  const links = counted(
    daysAhead,
    (ahead) => `<li><a href="/day/${day + ahead}">Day ${day + ahead}</a></li>`,
  );
  return html(
    `Day ${day}`,
    `<h1>Day ${day}</h1>\n<p>On day ${day} the tide came in ${day * 2 + 1} times and the ferry left ${day % 5} minutes late.</p>\n<ol>\n${links}\n</ol>`,
  );
}
