/**
 * Targets: parses the URL of a request. It creates no URL object, which would cost more than an
 * append.
 *
 * A path is decoded once, here, so that no two parts of the server can read one URL differently. A
 * request has one host: that of its target if it names one, otherwise `Host`.
 */

import type { IncomingMessage } from "node:http";
import { STREAM_ROOT } from "../router/paths.ts";
import { badRequest } from "./answer.ts";

const EMPTY_QUERY: ReadQuery = { offset: undefined, live: undefined, cursor: undefined };

export interface ReadQuery {
  readonly offset: string | undefined;
  readonly live: string | undefined;
  readonly cursor: string | undefined;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)\/?(.*)$/is;

/**
 * Turns a target with a host (as sent to a proxy) into a path and a `Host`. The host of the target
 * wins (RFC 9112, 3.2.2).
 */
export function takeHostOfTarget(request: IncomingMessage): void {
  const { url = "/" } = request;
  if (url.charCodeAt(0) === SLASH) return;
  const [, host, rest] = ABSOLUTE.exec(url) ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = `/${rest}`;
}

/** Whether it has several Host headers, which is invalid (RFC 9112, 3.2). */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count > 1;
}

/** The path of a URL without its query, as it was sent. */
export function rawPath(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? url : url.slice(0, mark);
}

/** The decoded stream path of a URL's path; null when it is not a stream URL. */
export function streamPathOf(path: string): string | null {
  if (!path.startsWith(STREAM_ROOT) || path.charCodeAt(STREAM_ROOT.length) !== SLASH) return null;
  const stream = path.slice(STREAM_ROOT.length);
  return stream.includes("%") ? decoded(stream, "the path") : stream;
}

const SLASH = 0x2f;

/** The parameters of a read; unknown ones are ignored. */
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
    else throw badRequest("the query", "has more than one offset");
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
    throw badRequest(part, "is not percent-encoded UTF-8");
  }
}
