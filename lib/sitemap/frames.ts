import type {Position, XmlElement, XmlHandler} from './xml.ts';

/** An open element with its own text, the text of its children left out. */
export interface Frame {
  readonly prefix: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly position: Position;
  text: string;
}

/** Most characters kept of an element's text: longer than any URL or title, shorter than an article. */
const maxText = 65_536;

export interface FrameHandler {
  /** @param parents open elements around it, innermost last */
  open(frame: Frame, parents: readonly Frame[]): void;
  /** The element is complete. */
  close(frame: Frame, parents: readonly Frame[]): void;
  /** The document has ended, perhaps inside an element. */
  end(): void;
}

/** XML events with a stack: what most readers of small documents want. */
export function withFrames(handler: FrameHandler, isDone: () => boolean): XmlHandler {
  const stack: Frame[] = [];
  return {
    get done() {
      return isDone();
    },
    open({prefix, name, attributes, position}: XmlElement) {
      const frame = {prefix, name, attributes, position, text: ''};
      handler.open(frame, stack);
      stack.push(frame);
    },
    text(text) {
      const top = stack.at(-1);
      if (top !== undefined && top.text.length < maxText)
        top.text += text.slice(0, maxText - top.text.length);
    },
    close() {
      const frame = stack.pop();
      if (frame !== undefined) handler.close(frame, stack);
    },
  };
}
