/**
 * Block text: content blocks of providers as text: texts as they are, images and files by type and
 * size.
 */

import { compactJson, type JsonStyle, numberText, printJson } from "../../core/base/print-json.ts";
import type { MediaPart } from "../../core/model/entry.ts";
import { isBase64, isMediaType, mediaIn } from "../../core/model/media.ts";
import { groupDigits, inlineText } from "./phrases.ts";

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

/** The text of each block of a list; null when it is not a list with a text, an image or a file. */
export function blockTexts(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.map((block) => textIn(block) ?? blockLabel(block));
  if (texts.every((text) => text === null)) return null;
  return texts.map((text, at) => text ?? indentedJson(value[at] ?? null));
}

/** The image or the file in a block, as `mediaLabel` has it; null when it is neither. */
export function blockLabel(block: unknown): string | null {
  const media = mediaIn(block);
  return media === null ? null : mediaLabel(media);
}

const ADDRESS_CHARS_MAX = 200;

/** `[image image/png, 12 KB]`, `[file application/pdf, plan.pdf, 34 KB]`. */
export function mediaLabel({ type, mediaType, name, data, path, url }: MediaPart): string {
  const kind = mediaType !== null && isMediaType(mediaType) ? `${type} ${mediaType}` : type;
  const isBytes = data !== undefined && isBase64(data.slice(0, 4));
  const place = isBytes ? sizeOf(data) : (path ?? url)?.slice(0, ADDRESS_CHARS_MAX);
  const isNamed = name !== undefined && path === undefined;
  const facts = [kind, ...(isNamed ? [name] : []), ...(place === undefined ? [] : [place])];
  return `[${facts.map(inlineText).join(", ")}]`;
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
