/** Streams: a server's data directory as a store that is only read. */

import type { Host } from "../base/host.ts";
import type { Dialect, DialectName } from "../dialects/dialect.ts";
import { streamsDialect } from "../dialects/streams/dialect.ts";
import { readingHost } from "../streams/reading/reading-host.ts";
import { streamPathToFilename } from "../streams/stream-path.ts";

export const streams: Dialect = streamsDialect({ fileOf: streamPathToFilename });

/** The disk as a store of that dialect sees it. */
export function hostOf(
  host: Host,
  { dialect, root }: { readonly dialect: DialectName; readonly root: string },
): Host {
  return dialect === "streams" ? readingHost(host, root) : host;
}
