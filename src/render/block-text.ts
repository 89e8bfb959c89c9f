/**
 * Block text: content blocks of providers as text: texts as they are, images by type and size.
 *
 * The shapes are Anthropic's (`source`), MCP's (`data`, `mimeType`) and OpenAI's (`image_url`).
 */

import { indentedJson } from "./json-text.ts";
import { grouped } from "./phrases.ts";

/** The text of each block of a list; null when it is not a list with a text or an image. */
export function blockTexts(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.map((block) => textIn(block) ?? imageLabel(block));
  if (texts.every((text) => text === null)) return null;
  return texts.map((text, at) => text ?? indentedJson(value[at] ?? null));
}

/** `[image image/png, 12 KB]`; null when it is not an image. */
export function imageLabel(block: unknown): string | null {
  const { type, source, data, mimeType, image_url: url } = fieldsOf(block);
  if (typeof type !== "string" || !/^(input_|output_)?image(_url)?$/.test(type)) return null;
  const inside = fieldsOf(source);
  const address = typeof url === "string" ? url : fieldsOf(url).url;
  const [, named, encoded] =
    /^data:([^;,]*);base64,(.*)$/s.exec(typeof address === "string" ? address : "") ?? [];
  const media = [inside.media_type, mimeType, named].find((each) => typeof each === "string");
  const bytes = [inside.data, data, encoded].find((each) => typeof each === "string");
  const kind = /^[\w.+-]+\/[\w.+-]{1,60}$/.test(String(media)) ? ` ${String(media)}` : "";
  const size = typeof bytes === "string" && bytes !== "" ? `, ${sizeOf(bytes)}` : "";
  return `[image${kind}${size}]`;
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
  return kilobytes < 10_240 ? `${grouped(kilobytes)} KB` : `${Math.round(kilobytes / 1024)} MB`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
