/**
 * Content types: which streams are JSON, and when two types are one.
 *
 * Only the media type counts, in any case; parameters (`; charset=utf-8`) are kept as they were
 * given and compared nowhere: the protocol's suite asks for the first and never for the second.
 */

/** What a stream holds when nobody says. */
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** Its messages are JSON values, one a line. `application/vnd.x+json` is not: bytes, verbatim. */
export function isJsonType(contentType: string): boolean {
  return mediaType(contentType) === "application/json";
}

export function sameType(a: string, b: string): boolean {
  return a === b || mediaType(a) === mediaType(b);
}

/** In lower case and without parameters; the default's where there is none. */
function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(";");
  const type = semicolon === -1 ? contentType : contentType.slice(0, semicolon);
  return type.trim().toLowerCase() || DEFAULT_CONTENT_TYPE;
}
