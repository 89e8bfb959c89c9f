/**
 * Image: an image as it is sent to a provider.
 *
 * It is accepted only when every provider accepts it: of four types, as base64 or by https.
 */

import type { MediaPart } from "../core/model/entry.ts";
import { isBase64 } from "../core/model/media.ts";

export type ImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

export type Image =
  | { readonly kind: "data"; readonly mediaType: ImageType; readonly base64: string }
  | { readonly kind: "url"; readonly url: string };

const TYPES: readonly unknown[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const URL_CHARS_MAX = 2048;
/** Only characters of a URL: no space, no control, nothing outside ASCII. */
const HTTPS = /^https:\/\/[!-~]+$/;

/** Null when some provider would refuse it. */
export function imageOf({ mediaType, data, url }: MediaPart): Image | null {
  if (data !== undefined) {
    const isGood = TYPES.includes(mediaType) && isBase64(data);
    return isGood ? { kind: "data", mediaType: mediaType as ImageType, base64: data } : null;
  }
  if (url === undefined || url.length > URL_CHARS_MAX) return null;
  return HTTPS.test(url) && URL.canParse(url) ? { kind: "url", url } : null;
}

/** The image as a data URL, or its https URL. */
export function urlOf(image: Image): string {
  return image.kind === "url" ? image.url : `data:${image.mediaType};base64,${image.base64}`;
}
