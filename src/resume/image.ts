/**
 * Image: the blocks in which providers take images, read as one kind.
 *
 * An image is taken only when every provider would: of four types, by base64 or by https.
 */

export type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

export type Image =
  | { readonly kind: "data"; readonly mediaType: ImageType; readonly base64: string }
  | { readonly kind: "url"; readonly url: string };

const TYPES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DATA_URL = /^data:(image\/[a-z]+);base64,/;
const URL_CHARS_MAX = 2048;
/** Only what a URL is made of: no space, no control, nothing outside ASCII. */
const HTTPS = /^https:\/\/[!-~]+$/;

type Block = Readonly<Record<string, unknown>>;

/** The image that a block of Anthropic's, OpenAI's or the AI SDK's holds; null when it holds none. */
export function imageIn(block: unknown): Image | null {
  if (!isBlock(block)) return null;
  const { type, source, image_url: url, image, mediaType } = block;
  if (type === "image" && isBlock(source)) {
    return source.type === "url" ? atUrl(source.url) : inBase64(source.media_type, source.data);
  }
  if (type === "image_url") return atUrl(isBlock(url) ? url.url : url);
  if (type === "input_image") return atUrl(url);
  if (type === "image" && typeof image === "string") {
    return mediaType === undefined ? atUrl(image) : (inBase64(mediaType, image) ?? atUrl(image));
  }
  return null;
}

/** The image as a URL that holds it. */
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
  const isGood = TYPES.includes(type) && data !== "" && BASE64.test(data);
  return isGood ? { kind: "data", mediaType: type as ImageType, base64: data } : null;
}

function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
