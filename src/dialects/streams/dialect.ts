/**
 * streams: the JSON streams of a server's data directory, read as sessions. Page:
 * docs/formats/streams.md, "As sessions".
 *
 * Root: the data directory. A session's id is the stream's path. Only read: what is written to a
 * stream goes through its server, which holds the directory.
 */

import { VerbatimError } from "../../base/errors.ts";
import { asciiJson } from "../../proof/checkpoint.ts";
import type { Dialect } from "../dialect.ts";
import { getString } from "../fields.ts";
import { decode } from "./decode.ts";

/** How streams' files are named: which names there are is for those who know the store. */
export interface StreamNames {
  /** The file in `logs/` of a path's first life; refuses what can be no path. */
  fileOf(path: string): string;
}

export function streamsDialect({ fileOf }: StreamNames): Dialect {
  return {
    name: "streams",
    signing: {
      isSidecar: true,
      turnMark(native) {
        const role = getString(native, "role");
        if (role === "user") return "opens";
        return role === null || role === "system" ? null : "works";
      },
      opening({ id, nowMs }) {
        const timestamp = new Date(nowMs).toISOString();
        const fields = { timestamp, thread_id: `streams:${id}` };
        return { text: `${asciiJson(fields).slice(0, -1)},`, id: null };
      },
    },
    logPath(id) {
      try {
        return ["logs", fileOf(id)];
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new VerbatimError("BAD_ID", reason, { id, reason }, { cause });
      }
    },
    // A file's name alone does not say whether its stream lives; see store/layouts.ts.
    idAt: () => null,
    decode,
    express: () => {
      throw readOnly();
    },
    complete: () => {
      throw readOnly();
    },
  };
}

function readOnly(): VerbatimError<"BAD_SETTING"> {
  const reason = "streams are only read here; append to them through their server or JsonlEngine";
  return new VerbatimError("BAD_SETTING", `nothing is appended: ${reason}`, {
    setting: "dialect",
    from: "streams",
    reason,
  });
}
