import {deflateSync} from 'node:zlib';

export interface SamplePage {
  /** Lines of text, from the top. */
  readonly lines?: readonly string[];
  /** A content stream as it is, in place of lines. */
  readonly content?: Uint8Array;
  /** Links, each over one line. */
  readonly links?: readonly {readonly line: number; readonly uri: string}[];
}

export interface SamplePdf {
  readonly pages: readonly SamplePage[];
  /** Entries of the Info dictionary, as PDF writes values: `(text)` or `<FEFF…>`. */
  readonly info?: Readonly<Record<string, string>>;
  readonly lang?: string;
  /** A dictionary that says it is encrypted. */
  readonly encrypt?: string;
}

const top = 720;
const leading = 14;

/** A small PDF 1.4, written by hand: one font, lines of 12 points. */
export function makePdf({pages, info = {}, lang, encrypt}: SamplePdf): Buffer {
  const objects: Buffer[] = [];
  const add = (text: string | Buffer): number => objects.push(Buffer.from(text as string, 'latin1'));
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(' ');
  add(`<< /Type /Catalog /Pages 2 0 R ${lang === undefined ? '' : `/Lang (${lang})`} >>`);
  add(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  for (const [at, page] of pages.entries()) {
    const annotations = (page.links ?? []).map(({line, uri}) => {
      const y = top - line * leading;
      return `<< /Type /Annot /Subtype /Link /Rect [70 ${y - 3} 540 ${y + 10}] /A << /S /URI /URI (${uri}) >> >>`;
    });
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + at * 2} 0 R ` +
        `/Resources << /Font << /F1 3 0 R >> >> /Annots [${annotations.join(' ')}] >>`,
    );
    const stream = deflateSync(page.content ?? contentOf(page.lines ?? []));
    add(
      Buffer.concat([
        Buffer.from(`<< /Length ${stream.length} /Filter /FlateDecode >>\nstream\n`),
        stream,
        Buffer.from('\nendstream'),
      ]),
    );
  }
  const entries = Object.entries(info).map(([name, value]) => `/${name} ${value}`);
  const infoAt = add(`<< ${entries.join(' ')} >>`);
  return assemble(objects, `/Info ${infoAt} 0 R ${encrypt === undefined ? '' : `/Encrypt ${encrypt}`}`);
}

function contentOf(lines: readonly string[]): Buffer {
  const shown = lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`);
  return Buffer.from(`BT /F1 12 Tf ${leading} TL 72 ${top} Td ${shown.join('\n')} ET`, 'latin1');
}

function assemble(objects: readonly Buffer[], trailer: string): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  let at = parts[0]!.length;
  const places = objects.map((object, index) => {
    const place = at;
    const whole = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    parts.push(whole);
    at += whole.length;
    return place;
  });
  const rows = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** A content stream that packs well and takes PDFium long and much memory: so many pieces of text. */
export function endlessContent(pieces: number): Buffer {
  return Buffer.from(`BT /F1 12 Tf 72 700 Td\n${'(x) Tj 0 1 Td\n'.repeat(pieces)}ET`, 'latin1');
}
