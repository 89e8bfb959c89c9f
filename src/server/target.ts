/**
 * Targets: what a request's URL names. No URL object is made: it would cost more than an append.
 *
 * TG1  A path is decoded once, here. Everything behind works on the decoded one, so that no two
 *      parts of the server can read one URL differently.
 */

import { badRequest } from "./answer.ts";

/** Where streams live; what follows is a stream's path, with its slash. */
export const STREAM_ROOT = "/v1/stream";

const EMPTY_QUERY: ReadQuery = { offset: undefined, live: undefined, cursor: undefined };

export interface ReadQuery {
  readonly offset: string | undefined;
  readonly live: string | undefined;
  readonly cursor: string | undefined;
}

/** The path of a URL without its query, as it was sent. */
export function rawPath(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? url : url.slice(0, mark);
}

/** The path of the stream that a URL's path names, decoded; null when it names none. */
export function streamPathOf(path: string): string | null {
  if (!path.startsWith(STREAM_ROOT) || path.charCodeAt(STREAM_ROOT.length) !== SLASH) return null;
  const stream = path.slice(STREAM_ROOT.length);
  return stream.includes("%") ? decoded(stream, "the path") : stream;
}

const SLASH = 0x2f;

/** What reading asks about; parameters that are not known are passed over. */
export function readQuery(url: string): ReadQuery {
  const mark = url.indexOf("?");
  if (mark < 0) return EMPTY_QUERY;
  let offset: string | undefined;
  let live: string | undefined;
  let cursor: string | undefined;
  for (const pair of url.slice(mark + 1).split("&")) {
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals);
    if (name !== "offset" && name !== "live" && name !== "cursor") continue;
    const value = equals < 0 ? "" : formDecoded(pair.slice(equals + 1));
    if (name === "live") live ??= value;
    else if (name === "cursor") cursor ??= value;
    else if (offset === undefined) offset = value;
    else throw badRequest("the query", "names more than one offset");
  }
  return { offset, live, cursor };
}

function formDecoded(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decoded(spaced, "the query") : spaced;
}

function decoded(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest(part, "is not UTF-8 in percent-encoding");
  }
}
