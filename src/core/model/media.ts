/**
 * Media: images and files of a conversation, in the blocks of every provider and program.
 *
 * A session has them in messages, where a dialect reads them as parts, and in outputs of tools,
 * which stay as the tool wrote them. Both go through `mediaIn`.
 *
 * - Reading copies what the line says: whether `data` is base64, and of what, is checked by those
 *   who send or show it.
 */

import type { MediaPart } from "./entry.ts";

type Block = Readonly<Record<string, unknown>>;
type Place = Pick<MediaPart, "data" | "url"> & { readonly mediaType?: string };

const IMAGES: readonly unknown[] = [
  "image",
  "input_image",
  "output_image",
  "image_url",
  "computer_screenshot",
];
const FILES: readonly unknown[] = ["document", "file", "input_file", "audio", "pdf", "blob"];
/** Objects in a block that have the bytes or their address. */
const HOLDERS = ["source", "file", "image", "image_url", "imageUrl", "inlineData", "fileData"];
const BYTES = ["data", "base64"];
const PLACES = [...BYTES, "url", "image_url", "image", "file_data", "fileUri", "file"];
const IDS = ["file_id", "fileId"];
const PDF = "application/pdf";
const TYPES = ["mediaType", "media_type", "mimeType", "mime"];
const NAMES = ["name", "filename", "displayName", "title"];
const DATA_URL = /^data:([^;,]{1,255});base64,/;
const DATA_URL_HEAD_MAX = 300;
const URL_START = /^[a-z][a-z0-9+.-]{1,20}:/i;
const MEDIA_TYPE = /^[\w.+-]{1,127}\/[\w.+-]{1,127}$/;
/** What is not base64. A pattern of the whole would overflow its stack on an image of 6 MB. */
const NOT_BASE64 = /[^A-Za-z0-9+/=]|=(?!=?$)/;

export function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && !NOT_BASE64.test(text);
}

export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test(text);
}

/**
 * The image or the file in a block; null when it is neither. Tools return objects of their own that
 * name files, so a file needs its media type, and its bytes or their address.
 */
export function mediaIn(block: unknown): MediaPart | null {
  if (!isBlock(block)) return null;
  const { type } = block;
  const isGoogles = type === undefined && (isBlock(block.inlineData) || isBlock(block.fileData));
  const isImage = IMAGES.includes(type);
  if (!isGoogles && !isImage && !FILES.includes(type)) return null;
  const holder = HOLDERS.map((key) => block[key]).find(isBlock) ?? block;
  if (holder.type === "text") return null; // A document in plain words: no bytes.
  const statedType =
    textIn([holder, block], TYPES) ?? typeIn(holder) ?? (type === "pdf" ? PDF : null);
  const text = textIn([holder, block], PLACES);
  const isBytes = statedType !== null || (isImage && text === textIn([holder, block], BYTES));
  const place = text === null ? null : placeIn(text, statedType, isBytes);
  const mediaType = place?.mediaType ?? statedType;
  const isPicture = mediaType === null ? isImage : mediaType.startsWith("image/");
  if (!isPicture && (place === null || mediaType === null)) return null;
  const isAtProvider = type === "input_image" || textIn([holder, block], IDS) !== null;
  if (place === null && !isAtProvider) return null;
  const name = textIn([holder, block], NAMES);
  return {
    type: isPicture ? "image" : "file",
    ...(name === null ? {} : { name }),
    ...place,
    mediaType,
  };
}

/** A part in our own words, as writers put it into lines of dialects without a word for it. */
export function mediaPartIn(block: unknown): MediaPart | null {
  if (!isBlock(block) || (block.type !== "image" && block.type !== "file")) return null;
  const { type, mediaType } = block;
  if (mediaType !== null && typeof mediaType !== "string") return null;
  const fields = ["name", "data", "path", "url"].filter((key) => typeof block[key] === "string");
  if (fields.every((key) => key === "name")) return null;
  return { type, mediaType, ...Object.fromEntries(fields.map((key) => [key, block[key]])) };
}

function placeIn(text: string, mediaType: string | null, isBytes: boolean): Place | null {
  const [head, type] = DATA_URL.exec(text.slice(0, DATA_URL_HEAD_MAX)) ?? [];
  if (head !== undefined && type !== undefined) {
    return { mediaType: mediaType ?? type, data: text.slice(head.length) };
  }
  if (URL_START.test(text)) return { url: text };
  return isBytes ? { data: text } : null;
}

/** Claude Code has the media type of a file that was read as its `type`. */
function typeIn({ type }: Block): string | null {
  return typeof type === "string" && isMediaType(type) ? type : null;
}

function textIn(blocks: readonly Block[], keys: readonly string[]): string | null {
  for (const block of blocks) {
    const key = keys.find((each) => typeof block[each] === "string" && block[each] !== "");
    if (key !== undefined) return block[key] as string;
  }
  return null;
}

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
