/**
 * Image: reads the image blocks of all providers.
 *
 * An image is accepted only when every provider accepts it: of four types, as base64 or by https.
 */

export type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

export type Image =
  | { readonly kind: "data"; readonly mediaType: ImageType; readonly base64: string }
  | { readonly kind: "url"; readonly url: string };

const TYPES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/** What is not base64. A pattern of the whole would overflow its stack on an image of 6 MB. */
const NOT_BASE64 = /[^A-Za-z0-9+/=]|=(?!=?$)/;
const DATA_URL = /^data:(image\/[a-z]+);base64,/;
const URL_START = /^(?:data|https?):/;
const URL_CHARS_MAX = 2048;
/** Only characters of a URL: no space, no control, nothing outside ASCII. */
const HTTPS = /^https:\/\/[!-~]+$/;

type Block = Readonly<Record<string, unknown>>;

/** Where a block has its image, in one form or the other. */
interface ImageData {
  readonly url?: unknown;
  readonly mediaType?: unknown;
  readonly base64?: unknown;
}

/** The image in a block; null when it is not an image block. */
export function imageIn(block: unknown): Image | "not_taken" | null {
  const data = isBlock(block) ? dataIn(block) : null;
  if (data === null) return null;
  return inBase64(data.mediaType, data.base64) ?? atUrl(data.url) ?? "not_taken";
}

/**
 * Whether a block has the bytes of something else: a document, sound. Tools return objects of their
 * own that name files, so both must be there, a block's type and the bytes.
 */
export function isFile(block: unknown): boolean {
  if (!isBlock(block) || !FILES.includes(block.type)) return false;
  const { source, file, url, data, file_data: text } = block;
  const [holder] = [source, file, block].filter(isBlock);
  const isText = holder?.type === "text";
  const isTyped = typeof holder?.data === "string" && mediaTypeIn(holder) !== undefined;
  return (isTyped && !isText) || isReadFile(file) || [file, url, data, text].some(isDataUrl);
}

const FILES: readonly unknown[] = ["document", "file", "input_file", "audio", "pdf"];

/** Null when it is not an image block of any provider. */
function dataIn(block: Block): ImageData | null {
  const { type, source, image, image_url: url, data, file } = block;
  const mediaType = mediaTypeIn(block);
  switch (type) {
    case "image":
      if (isBlock(source)) return sourceData(source); // Anthropic's
      if (typeof image === "string") return textData(image, mediaType); // the AI SDK's
      if (isBlock(image)) return imageData(image); // the OpenAI Agents SDK's, of tools
      if (isReadFile(file)) return { base64: file.base64, mediaType: file.type };
      return typeof data === "string" && mediaType !== undefined
        ? { base64: data, mediaType }
        : null;
    case "image_url":
      return { url: isBlock(url) ? url.url : url };
    case "input_image":
      return { url: url ?? image };
    case "computer_screenshot":
      return { url: data };
    case "file":
      return fileData(block);
    default:
      return null;
  }
}

function sourceData({ type, url, media_type: mediaType, data }: Block): ImageData | null {
  if (type === "url") return { url };
  return type === "base64" || type === "file" ? { base64: data, mediaType } : null;
}

function textData(text: string, mediaType: unknown): ImageData | null {
  if (mediaType !== undefined) return { url: text, base64: text, mediaType };
  return URL_START.test(text) ? { url: text } : null;
}

function imageData(image: Block): ImageData | null {
  const { url, data, fileId } = image;
  const isPlace = [url, data, fileId].some((each) => typeof each === "string");
  return isPlace ? { url, base64: data, mediaType: mediaTypeIn(image) } : null;
}

/** The AI SDK's files, images among them. */
function fileData({ mediaType, url, data }: Block): ImageData | null {
  if (typeof mediaType !== "string" || !mediaType.startsWith("image/")) return null;
  const isPlace = typeof url === "string" || typeof data === "string";
  return isPlace ? { url, base64: data, mediaType } : null;
}

/** The result of Claude Code's Read for a file that is not text, as hooks report it. */
function isReadFile(file: unknown): file is Block {
  return isBlock(file) && typeof file.base64 === "string";
}

function mediaTypeIn({ mediaType, media_type: snake, mimeType }: Block): unknown {
  return mediaType ?? snake ?? mimeType;
}

function isDataUrl(value: unknown): boolean {
  return typeof value === "string" && value.startsWith("data:");
}

/** The image as a data URL, or its https URL. */
export function urlOf(image: Image): string {
  return image.kind === "url" ? image.url : `data:${image.mediaType};base64,${image.base64}`;
}

function atUrl(url: unknown): Image | null {
  if (typeof url !== "string") return null;
  const [head = "", type] = DATA_URL.exec(url.slice(0, 64)) ?? [];
  if (type !== undefined) return inBase64(type, url.slice(head.length));
  return url.length <= URL_CHARS_MAX && HTTPS.test(url) && URL.canParse(url)
    ? { kind: "url", url }
    : null;
}

function inBase64(type: unknown, data: unknown): Image | null {
  if (typeof type !== "string" || typeof data !== "string") return null;
  const isGood = TYPES.includes(type) && data !== "" && isBase64(data);
  return isGood ? { kind: "data", mediaType: type as ImageType, base64: data } : null;
}

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && !NOT_BASE64.test(text);
}
