import type {Extractor} from 'crawl/extract';

/**
 * Contact pages, and how one may reach people there: to find those that name no e-mail address, ask for
 * `WHERE emails = 0`. Reads the markup as events, without a tree.
 */
export default {
  name: 'contacts',
  doc: 'Contact pages and imprints, with the ways of contact that they offer; the addresses themselves are not kept.',
  columns: {
    kind: {type: 'text', values: ['contact', 'imprint'], doc: 'What the page is, by its address or title.'},
    emails: {type: 'int32', doc: 'E-mail addresses, in links or in the text.'},
    phones: {type: 'int32', doc: 'Telephone links.'},
    has_form: {type: 'boolean', doc: 'Whether there is a form to write into.'},
    messengers: {type: 'json', doc: 'Array of messengers that are linked to.'},
  },
  extract(page) {
    const kind = kindOf(`${new URL(page.url).pathname} ${page.parsed.title ?? ''}`);
    if (kind === null) return null;
    const emails = new Set<string>();
    const phones = new Set<string>();
    const messengers = new Set<string>();
    let hasForm = false;
    page.events({
      open(name, {href = ''}) {
        if (name === 'textarea') hasForm = true;
        if (name !== 'a') return;
        const link = href.trim().toLowerCase();
        if (link.startsWith('mailto:')) emails.add(link.slice(7).split('?')[0]!);
        if (link.startsWith('tel:')) phones.add(link.slice(4));
        for (const [messenger, pattern] of links) if (pattern.test(link)) messengers.add(messenger);
      },
    });
    for (const [address] of (page.parsed.text ?? '').matchAll(written)) emails.add(address.toLowerCase());
    return {
      kind,
      emails: emails.size,
      phones: phones.size,
      has_form: hasForm,
      messengers: [...messengers].sort(),
    };
  },
} satisfies Extractor;

function kindOf(words: string): 'contact' | 'imprint' | null {
  if (/\b(?:impressum|imprint|mentions-legales|legal-notice|aviso-legal)\b/i.test(words)) return 'imprint';
  return /\b(?:contact(?:-us|o)?|kontakt|contatti|contactez-nous)\b/i.test(words) ? 'contact' : null;
}

/** Addresses in the text, those written against robots too: name (at) example (dot) org. */
const written =
  /[\w.+-]{1,64}\s?(?:@|\(at\)|\[at\])\s?[\w-]{1,63}(?:\s?(?:\.|\(dot\)|\[dot\])\s?[\w-]{2,63}){1,4}/gi;

const links: readonly (readonly [string, RegExp])[] = [
  ['whatsapp', /^https?:\/\/(?:wa\.me|api\.whatsapp\.com)\//],
  ['telegram', /^https?:\/\/t\.me\//],
  ['signal', /^https?:\/\/signal\.me\//],
];
