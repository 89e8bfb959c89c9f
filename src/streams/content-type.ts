/**
 * Content types: which streams are JSON, and when two types are equal.
 *
 * Only the media type counts, ignoring case. Parameters (`; charset=utf-8`) are stored as sent and
 * never compared, as in the protocol's test suite.
 */

/** The default type of a stream. */
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/**
 * Its messages are JSON values, one per line. `application/vnd.x+json` is not: it is stored as
 * bytes.
 */
export function isJsonType(contentType: string): boolean {
  return mediaType(contentType) === "application/json";
}

export function sameType(a: string, b: string): boolean {
  return a === b || mediaType(a) === mediaType(b);
}

/** Lower case, without parameters; the default if there is none. */
function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(";");
  const type = semicolon === -1 ? contentType : contentType.slice(0, semicolon);
  return type.trim().toLowerCase() || DEFAULT_CONTENT_TYPE;
}
