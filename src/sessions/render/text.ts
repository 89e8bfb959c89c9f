/**
 * Block text: content blocks of providers as text: texts as they are, images by type and size.
 *
 * The shapes are Anthropic's (`source`), MCP's (`data`, `mimeType`), OpenAI's (`image_url`) and
 * Google's (`inlineData`).
 */

import { compactJson, type JsonStyle, numberText, printJson } from "../../core/base/print-json.ts";
import { groupDigits } from "./phrases.ts";

/** C0 but for tab and LF, DEL and C1, line and paragraph separators, bidirectional controls. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const LINE_BREAKING = /[\t\n]/g;

/**
 * Makes a transcript harmless on a terminal, or in a pipe that ends at one.
 *
 * A model or a tool can print escape codes that clear the screen, retitle the window, fill the
 * clipboard or hide the text before them, and bidirectional overrides that make one text look like
 * another. All of these become visible: ESC is shown as `\u001b`.
 *
 * SX1  The output has no C0 or C1 control but LF and tab, and no bidirectional control.
 * SX2  The escapes are JSON's, so that an escaped line of JSON is the same JSON.
 *
 * Text of many lines: LF and tab stay.
 */
export function safeText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** For text that must stay on one line, such as a name: LF and tab are escaped too. */
export function safeLine(text: string): string {
  return safeText(text).replace(LINE_BREAKING, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const INDENTED: JsonStyle = { indent: "  ", string: JSON.stringify, number: numberText };
/** Indenting a deep line of 16 MiB would take gigabytes. */
export const INDENTED_CHARS_MAX = 32 * 1024 * 1024;

/**
 * Values from a log as JSON, for people and pipes.
 *
 * JT1  Nothing here recurses: a line of 16 MiB can be nested eight million deep, and JSON.stringify
 *      fails at some thousands.
 * JT2  Indenting is bounded: a text that would be longer than `charsMax` is printed compactly.
 *
 * Compact JSON of a parsed value.
 */
export function jsonText(value: unknown): string {
  return compactJson(value); // JT1
}

/** A longer text is folded, and says how long it is. */
export const FOLD_LINES_MAX = 24;
export const FOLD_CHARS_MAX = 2000;

export function lineCount(text: string): number {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** JSON with two spaces of indent, as long as that fits. */
export function indentedJson(value: unknown, charsMax: number = INDENTED_CHARS_MAX): string {
  return printJson(value, INDENTED, charsMax) ?? jsonText(value);
}

/** The text of each block of a list; null when it is not a list with a text or an image. */
export function blockTexts(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.map((block) => textIn(block) ?? imageLabel(block));
  if (texts.every((text) => text === null)) return null;
  return texts.map((text, at) => text ?? indentedJson(value[at] ?? null));
}

/** `[image image/png, 12 KB]`; null when it is not an image. */
export function imageLabel(block: unknown): string | null {
  const image = imageIn(block);
  if (image === null) return null;
  const { media, bytes } = image;
  const kind = /^[\w.+-]+\/[\w.+-]{1,60}$/.test(String(media)) ? ` ${String(media)}` : "";
  const size = typeof bytes === "string" && bytes !== "" ? `, ${sizeOf(bytes)}` : "";
  return `[image${kind}${size}]`;
}

/** An image's bytes as the log has them, in base64; null when it has none. */
export function imageData(block: unknown): string | null {
  const bytes = imageIn(block)?.bytes;
  return typeof bytes === "string" && bytes !== "" ? bytes : null;
}

/** The type and the bytes as the block calls them; null when it is not an image. */
function imageIn(block: unknown): { readonly media: unknown; readonly bytes: unknown } | null {
  const { type, source, data, mimeType, image_url: url, url: own, inlineData } = fieldsOf(block);
  const part = fieldsOf(inlineData);
  if (type === undefined && /^image\//.test(String(part.mimeType))) {
    return { media: part.mimeType, bytes: part.data };
  }
  if (typeof type !== "string" || !/^(input_|output_)?image(_url)?$/.test(type)) return null;
  const inside = fieldsOf(source);
  const address = typeof url === "string" ? url : (fieldsOf(url).url ?? own);
  const [, named, encoded] =
    /^data:([^;,]*);base64,(.*)$/s.exec(typeof address === "string" ? address : "") ?? [];
  return {
    media: [inside.media_type, mimeType, named].find((each) => typeof each === "string"),
    bytes: [inside.data, data, encoded].find((each) => typeof each === "string"),
  };
}

function textIn(block: unknown): string | null {
  const { type, text } = fieldsOf(block);
  const isText = type === "text" || type === "input_text" || type === "output_text";
  return isText && typeof text === "string" ? text : null;
}

/** Size of the decoded base64. */
function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
  if (bytes < 1024) return `${bytes} bytes`;
  const kilobytes = Math.round(bytes / 1024);
  return kilobytes < 10_240 ? `${groupDigits(kilobytes)} KB` : `${Math.round(kilobytes / 1024)} MB`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
