import {SaxesParser} from 'saxes';

/**
 * XML events from text, in pieces, as far as it goes: what is not well-formed is reported with its place,
 * and reading goes on behind it. No external or declared entities, so nothing can grow.
 */
export interface XmlHandler {
  open(element: XmlElement): void;
  /** Character data, CDATA too; in any number of pieces. */
  text(text: string): void;
  close(): void;
}

export interface XmlElement {
  /** Prefix in lower case, or empty. Namespaces are not resolved: sitemaps often name the wrong ones. */
  readonly prefix: string;
  /** Local name in lower case. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly position: Position;
}

/** Both from 1, in characters of the decoded text. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface XmlReader {
  write(piece: string): void;
  end(): void;
  /** True: no more input is wanted. */
  readonly stopped: boolean;
  stop(): void;
}

/** Deeper elements end the reading: each open one costs memory. Chosen: real ones have fewer than 20. */
const maxDepth = 200;

export function xmlReader(
  handler: XmlHandler,
  onError: (position: Position, detail: string) => void,
): XmlReader {
  const parser = new SaxesParser({xmlns: false});
  let depth = 0;
  let stopped = false;
  let start: Position = {line: 1, column: 1};
  const here = (): Position => ({line: parser.line, column: parser.column + 1});

  parser.on('error', (error) => {
    if (!stopped) onError(here(), error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, ''));
  });
  parser.on('opentagstart', () => {
    start = here();
  });
  parser.on('opentag', (tag) => {
    depth++;
    if (stopped) return;
    if (depth > maxDepth) {
      onError(start, `elements nested deeper than ${maxDepth}`);
      stopped = true;
      return;
    }
    const colon = tag.name.indexOf(':');
    handler.open({
      prefix: colon < 0 ? '' : tag.name.slice(0, colon).toLowerCase(),
      name: tag.name.slice(colon + 1).toLowerCase(),
      attributes: tag.attributes,
      position: start,
    });
  });
  parser.on('text', (text) => {
    if (!stopped) handler.text(text);
  });
  parser.on('cdata', (text) => {
    if (!stopped) handler.text(text);
  });
  parser.on('closetag', () => {
    depth--;
    if (!stopped) handler.close();
  });

  return {
    get stopped() {
      return stopped;
    },
    stop() {
      stopped = true;
    },
    write(piece) {
      if (!stopped) parser.write(piece);
    },
    end() {
      if (!stopped) parser.close();
    },
  };
}
