/** The tree of a page, as extractors see it: the nodes of domhandler, for reading only. */
export interface Document {
  readonly type: 'root';
  readonly children: readonly Node[];
  readonly parent: null;
}

export interface Element {
  readonly type: 'tag' | 'script' | 'style';
  /** Lower case in HTML. */
  readonly name: string;
  /** By name, lower case in HTML; of a repeated attribute the first. */
  readonly attribs: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
  readonly parent: Element | Document | null;
  readonly prev: Node | null;
  readonly next: Node | null;
}

export interface Text {
  readonly type: 'text';
  readonly data: string;
  readonly parent: Element | Document | null;
}

/** Comments, doctypes, processing instructions, and sections of CDATA, whose texts are their children. */
export interface OtherNode {
  readonly type: 'comment' | 'directive' | 'cdata';
  readonly data?: string;
  readonly children?: readonly Node[];
  readonly parent: Element | Document | null;
}

export type Node = Element | Text | OtherNode;

/** Markup as it is read, without a tree. */
export interface MarkupEvents {
  /** A start tag, one that is implied too. */
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  /** Text with its character references resolved; it may come in pieces. */
  text?(piece: string): void;
  comment?(text: string): void;
}
