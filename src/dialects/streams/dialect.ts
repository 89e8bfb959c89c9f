/**
 * streams: the JSON streams of a server's data directory, read as sessions. Page:
 * docs/formats/streams.md, "As sessions".
 *
 * Root: the data directory. A session's id is the stream's path. Read-only: writes go through the
 * server, which holds the directory.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { streamPathToFilename } from "../../streams/files/stream-path.ts";
import type { Dialect } from "../dialect.ts";
import { sidecarOpening } from "../shared/checkpoint-opening.ts";
import { getString } from "../shared/fields.ts";
import { decode } from "./decode.ts";
import { readingHost } from "./files/reading-host.ts";
import { streamLogs } from "./files/stream-logs.ts";

export const streams: Dialect<"streams"> = {
  name: "streams",
  naming: {
    layout: {
      under: ["logs"],
      levels: [],
      isLog: () => false,
      idAt: () => null,
      logsIn: streamLogs,
    },
    logPath(id) {
      try {
        return ["logs", streamPathToFilename(id)];
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new VerbatimError("BAD_ID", reason, { id, reason }, { cause });
      }
    },
    // A file name does not say whether its stream is live: `logsIn` reads meta.jsonl.
    idAt: () => null,
  },
  reading: {
    decode,
    holdsAnything: true,
  },
  turns: {
    isSidecar: true,
    turnMark(native) {
      const role = getString(native, "role");
      if (role === "user") return "opens";
      return role === null || role === "system" ? null : "works";
    },
    opening: sidecarOpening("streams"),
  },
  writtenElsewhere:
    "streams are only read here; append to them through their server or openStreams",
  files: {
    hostFor: readingHost,
  },
};
