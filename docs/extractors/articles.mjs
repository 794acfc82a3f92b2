/**
 * Articles with author and date: what the page states in JSON-LD, else in Open Graph, else what the parser found. Plain
 * JavaScript, which every Node runs as it is.
 *
 * @type {import('crawl/extract').Extractor}
 */
export default {
  name: 'articles',
  doc: 'Pages that are articles, by JSON-LD, Open Graph or an article element.',
  columns: {
    headline: {type: 'text', doc: 'Headline.'},
    authors: {type: 'json', nullable: true, doc: 'Array of names.'},
    published: {type: 'timestamp', nullable: true, doc: 'When it was published, as the page states it.'},
    modified: {type: 'timestamp', nullable: true, doc: 'When it was changed, as the page states it.'},
    section: {type: 'text', nullable: true, doc: 'Section of the paper.'},
    lead: {type: 'text', nullable: true, doc: 'What it is about, in a sentence or two.'},
    words: {type: 'int32', doc: 'Words of the main text.'},
  },
  extract(page) {
    const [stated] = articleTypes.flatMap((type) => page.things(type));
    const graph = page.openGraph;
    const isArticle =
      stated !== undefined || graph['og:type'] === 'article' || page.first('article h1') !== null;
    const {title, description, main_text, text, published_time, modified_time} = page.parsed;
    const headline = textOf(stated?.headline) ?? textOf(graph['og:title']) ?? title;
    if (!isArticle || headline === null) return null;
    const authors = [stated?.author ?? graph['article:author'] ?? []].flat().map(nameOf).filter(Boolean);
    return {
      headline,
      authors: authors.length > 0 ? authors : null,
      published: published_time,
      modified: modified_time,
      section: textOf([stated?.articleSection ?? graph['article:section']].flat()[0]),
      lead: textOf(stated?.description) ?? description,
      words: (main_text ?? text ?? '').split(/\s+/).filter((word) => word !== '').length,
    };
  },
};

const articleTypes = ['NewsArticle', 'Article', 'BlogPosting', 'ReportageNewsArticle', 'TechArticle'];

/** Authors are texts, or things with a name; some sites give an address in place of a name. */
function nameOf(author) {
  const name = textOf(author) ?? textOf(author?.name);
  return name === null || /^https?:/.test(name) ? null : name;
}

function textOf(value) {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
