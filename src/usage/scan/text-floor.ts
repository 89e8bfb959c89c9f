/**
 * Text floor: how many output tokens a response must have at least, by the text that it recorded.
 *
 * No tokenizer of a model has tokens of more than 128 characters, which is at most 512 bytes of
 * UTF-8. So a response with less than one token for 512 bytes of text was recorded wrongly.
 */

export const TEXT_BYTES_PER_TOKEN = 512;
/** What is kept of it, in eight bits. */
const FLOOR_MAX = 255;
const TEXT = Buffer.from('"text"');

export function floorFor(textBytes: number): number {
  return Math.min(FLOOR_MAX, Math.floor(textBytes / TEXT_BYTES_PER_TOKEN));
}

/** Of the content of a message: text, or blocks. Thinking, calls and results do not count. */
export function floorOf(content: unknown): number {
  if (typeof content === "string") return floorFor(Buffer.byteLength(content));
  if (!Array.isArray(content)) return 0;
  let bytes = 0;
  for (const block of content as readonly ({ type?: unknown; text?: unknown } | null)[]) {
    if (block?.type !== "text" || typeof block.text !== "string") continue;
    bytes += Buffer.byteLength(block.text);
  }
  return floorFor(bytes);
}

/** The same of its JSON. Parses only what may have too much text for this many tokens. */
export function floorIn(bytes: Buffer, from: number, to: number, output: number): number {
  if (to - from < (output + 1) * TEXT_BYTES_PER_TOKEN) return 0;
  const json = bytes.subarray(from, to);
  if (json[0] !== 0x22 && json.indexOf(TEXT) < 0) return 0;
  try {
    return floorOf(JSON.parse(json.toString("utf8")));
  } catch {
    return 0; // Damaged: how much text there was is not known.
  }
}
