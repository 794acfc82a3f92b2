import {brotliCompressSync, constants, gzipSync} from 'node:zlib';
import {ByteWriter, ParquetWriter} from 'hyparquet-writer';
import {writePageHeader} from 'hyparquet-writer/src/datapage.js';
import {writeRleBitPackedHybrid} from 'hyparquet-writer/src/encoding.js';
import type {Table} from '../schema/table.ts';
import type {ColumnChunk, ColumnPage} from './column-buffer.ts';
import {parquetSchema, tableMetadata} from './table-schema.ts';

/** GZIP level: chosen for writing speed; see docs/decisions/0010. */
const gzipLevel = 1;

/** Output comes in pieces of this many bytes, mostly one: each further piece costs a call and a copy. */
const pieceBytes = (input: Uint8Array): number => Math.max(1024, input.length >> 1);

const compressors = {
  GZIP: (input: Uint8Array) => gzipSync(input, {level: gzipLevel, chunkSize: pieceBytes(input)}),
  BROTLI: (input: Uint8Array) =>
    brotliCompressSync(input, {
      chunkSize: pieceBytes(input),
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 0,
        [constants.BROTLI_PARAM_LGWIN]: 18,
        [constants.BROTLI_PARAM_SIZE_HINT]: input.length,
      },
    }),
  UNCOMPRESSED: (input: Uint8Array) => input,
};
export type Codec = keyof typeof compressors;

/** As hyparquet-writer has them. */
type Chunk = ParquetWriter['row_groups'][number]['columns'][number];
type Encoding = NonNullable<Chunk['meta_data']>['encodings'][number];
type Pages = NonNullable<ParquetWriter['pendingIndexes'][number]['offsetIndex']>['page_locations'];

/**
 * The bytes of a Parquet file, from columns whose values are encoded already. Headers of pages, runs and the footer are
 * hyparquet-writer's; pages are ours, since its own take a list of values as objects, of which they make several more
 * lists (docs/decisions/0193).
 */
export class ParquetOutput {
  readonly #bytes = new ByteWriter(1 << 16);
  readonly #levels = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #columns: ReturnType<typeof parquetSchema>;
  #group: {columns: Chunk[]; start: number; size: bigint};

  constructor(table: Table) {
    const schema = parquetSchema(table);
    this.#columns = schema.slice(1);
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema,
      compressors,
      kvMetadata: [
        {key: tableMetadata.table, value: table.name},
        {key: tableMetadata.version, value: `${table.version}`},
      ],
      createdBy: 'crawl (hyparquet-writer)',
    });
    this.#group = {columns: [], start: this.#bytes.offset, size: 0n};
  }

  /** What was made since the last `taken`: valid until more is written. */
  get bytes(): Uint8Array {
    return this.#bytes.getBytes();
  }

  taken(): void {
    this.#bytes.index = 0;
  }

  /** Writes the next column of a row group. No statistics: rows come in no order, so a group's range is that of the table. */
  column(chunk: ColumnChunk, codec: Codec): void {
    const element = this.#columns[this.#group.columns.length]!;
    const start = this.#bytes.offset;
    const encoding: Encoding = chunk.dictionary === undefined ? 'PLAIN' : 'RLE_DICTIONARY';
    let size = chunk.dictionary === undefined ? 0 : this.#dictionary(chunk.dictionary, codec);
    const dataStart = this.#bytes.offset;
    const locations: Pages = [];
    let rows = 0;
    for (const page of chunk.pages) {
      const offset = this.#bytes.offset;
      size += this.#page(page, encoding, codec);
      locations.push({
        offset: BigInt(offset),
        compressed_page_size: this.#bytes.offset - offset,
        first_row_index: BigInt(rows),
      });
      rows += page.rows;
    }
    const column: Chunk = {
      meta_data: {
        type: element.type!, // each column of a table has one
        encodings: chunk.dictionary === undefined ? [encoding] : ['PLAIN', encoding],
        path_in_schema: [element.name],
        codec,
        num_values: BigInt(rows),
        total_compressed_size: BigInt(this.#bytes.offset - start),
        total_uncompressed_size: BigInt(size),
        data_page_offset: BigInt(dataStart),
        ...(chunk.dictionary !== undefined && {dictionary_page_offset: BigInt(start)}),
      },
      file_offset: BigInt(start),
    };
    this.#group.columns.push(column);
    this.#group.size += BigInt(size);
    this.#writer.pendingIndexes.push({
      chunk: column,
      ...(locations.length > 1 && {offsetIndex: {page_locations: locations}}),
    });
  }

  /** Ends a row group of which all columns were written. */
  endGroup(rows: number): void {
    const {columns, start, size} = this.#group;
    this.#writer.row_groups.push({
      columns,
      total_byte_size: size,
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(this.#bytes.offset - start),
    });
    this.#writer.num_rows += BigInt(rows);
    this.#group = {columns: [], start: this.#bytes.offset, size: 0n};
  }

  /** Indexes of pages and the footer. */
  finish(): void {
    void this.#writer.finish(); // a ByteWriter's is done at once
  }

  #dictionary({bytes, values}: NonNullable<ColumnChunk['dictionary']>, codec: Codec): number {
    const packed = compressors[codec](bytes);
    const start = this.#bytes.offset;
    writePageHeader(this.#bytes, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: bytes.length,
      compressed_page_size: packed.length,
      dictionary_page_header: {num_values: values, encoding: 'PLAIN'},
    });
    const header = this.#bytes.offset - start;
    this.#bytes.appendBytes(packed);
    return header + bytes.length;
  }

  /** @returns bytes of the page, its values not compressed */
  #page(page: ColumnPage, encoding: Encoding, codec: Codec): number {
    const levels = this.#levels;
    levels.index = 0;
    // One level: whether there is a value.
    if (page.present !== undefined) writeRleBitPackedHybrid(levels, page.present, 1);
    const levelBytes = levels.getBytes();
    const values = 'places' in page.values ? packPlaces(page.values.places) : page.values;
    const packed = compressors[codec](values);
    const start = this.#bytes.offset;
    writePageHeader(this.#bytes, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levelBytes.length + values.length,
      compressed_page_size: levelBytes.length + packed.length,
      data_page_header_v2: {
        num_values: page.rows,
        num_nulls: page.nulls,
        num_rows: page.rows,
        encoding,
        definition_levels_byte_length: levelBytes.length,
        repetition_levels_byte_length: 0,
        is_compressed: true,
      },
    });
    const header = this.#bytes.offset - start;
    this.#bytes.appendBytes(levelBytes);
    this.#bytes.appendBytes(packed);
    return header + levelBytes.length + values.length;
  }
}

/** Places in a dictionary as runs, with the bits of the greatest before them. */
function packPlaces(places: Int32Array): Uint8Array {
  let greatest = 0;
  for (const place of places) if (place > greatest) greatest = place;
  const bits = 32 - Math.clz32(greatest);
  const out = new ByteWriter(places.length + 16);
  out.appendUint8(bits);
  writeRleBitPackedHybrid(out, places, bits);
  return out.getBytes();
}
