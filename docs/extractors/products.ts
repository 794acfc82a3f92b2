import type {Extractor} from 'crawl/extract';

/** Products as shops state them in JSON-LD, one row an offer. No tree is built: the parse has read the JSON-LD already. */

type Thing = Readonly<Record<string, unknown>>;

export default {
  name: 'products',
  doc: 'Products that pages state in JSON-LD (schema.org), a row an offer.',
  columns: {
    name: {type: 'text', doc: 'Name of the product.'},
    brand: {type: 'text', nullable: true, doc: 'Brand.'},
    sku: {type: 'text', nullable: true, doc: 'The shop’s own number.'},
    gtin: {type: 'text', nullable: true, doc: 'Global number, as printed under the bar code.'},
    price: {type: 'double', nullable: true, doc: 'Price; of a range the lowest.'},
    currency: {type: 'text', nullable: true, doc: 'Currency, ISO 4217.', example: 'EUR'},
    in_stock: {
      type: 'boolean',
      nullable: true,
      doc: 'Whether it is in stock; null where the page does not say.',
    },
    rating: {type: 'double', nullable: true, doc: 'Mean rating.'},
    ratings: {type: 'count', nullable: true, doc: 'Number of ratings or reviews.'},
    image: {type: 'text', nullable: true, doc: 'URL of the first picture.'},
  },
  *extract(page) {
    for (const product of page.things('Product')) {
      const name = text(product.name);
      if (name === null) continue;
      const rating = thing(product.aggregateRating);
      const offers = list(product.offers).map(thing);
      for (const offer of offers.length === 0 ? [{}] : offers)
        yield {
          name,
          brand: text(product.brand) ?? text(thing(product.brand).name),
          sku: text(product.sku) ?? text(offer.sku),
          gtin: text(product.gtin13) ?? text(product.gtin) ?? text(product.gtin8) ?? text(product.gtin14),
          price: number(offer.price ?? offer.lowPrice ?? thing(list(offer.priceSpecification)[0]).price),
          currency: text(offer.priceCurrency ?? thing(list(offer.priceSpecification)[0]).priceCurrency),
          in_stock: stock(text(offer.availability)),
          rating: number(rating.ratingValue),
          ratings: whole(number(rating.ratingCount ?? rating.reviewCount)),
          image: page.resolve(text(list(product.image)[0]) ?? text(thing(list(product.image)[0]).url)),
        };
    }
  },
} satisfies Extractor;

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function thing(value: unknown): Thing {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Thing) : {};
}

/** Numbers where texts are meant are common. */
function text(value: unknown): string | null {
  const found = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return found === '' ? null : found;
}

/** `12.50` and 12.5; not `12,50 €`, of which nobody knows what was meant. */
function number(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null;
}

function whole(value: number | null): number | null {
  return Number.isSafeInteger(value) ? value : null;
}

function stock(availability: string | null): boolean | null {
  const state = availability?.split('/').at(-1)?.toLowerCase();
  if (state === undefined) return null;
  if (['instock', 'instoreonly', 'onlineonly', 'limitedavailability'].includes(state)) return true;
  return ['outofstock', 'soldout', 'discontinued'].includes(state) ? false : null;
}
