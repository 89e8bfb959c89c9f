/**
 * streams: the JSON streams of a server's data directory, read as sessions. Page:
 * docs/formats/streams.md, "As sessions".
 *
 * Root: the data directory. A session's id is the stream's path. Read-only: writes go through the
 * server, which holds the directory.
 *
 * A stream's message becomes an entry if it looks like a chat message. Streams hold any
 * JSON that their clients sent, so nothing is refused: unknown JSON becomes an `other` entry, and
 * is shown.
 *
 * Known are lines of `sdk`, our neutral entry, the AI SDK's `UIMessage` (role and parts), and a
 * role with content in Anthropic's or OpenAI's format.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Mutable } from "../../core/base/files.ts";
import { compactJson } from "../../core/base/print-json.ts";
import {
  type Entry,
  emptyEntry,
  type Native,
  type Part,
  type Role,
} from "../../core/model/entry.ts";
import { streamsIn } from "../../streams/files/reading/stream-list.ts";
import { streamPathToFilename } from "../../streams/files/stream-path.ts";
import type { Dialect } from "../dialect.ts";
import type { DecodedValue } from "../facets/reading.ts";
import type { FoundLog } from "../session-row.ts";
import { chatOf, hasCalls } from "../shared/chat-message.ts";
import { sidecarOpening } from "../shared/checkpoint-opening.ts";
import { get, getString, isObject, type JsonObject } from "../shared/fields.ts";
import { decode as decodeLine, neutralOf } from "../verbatim/decode.ts";
import { decodeItem } from "../verbatim/item.ts";
import { decodeMessage } from "../verbatim/ui-message.ts";
import { readingHost } from "./files/reading-host.ts";

const ROLES: readonly unknown[] = ["system", "user", "assistant", "tool"];
const KINDS: readonly unknown[] = ["start", "message", "turn_start", "turn_end", "end"];
const TIMES = ["at", "timestamp", "ts", "createdAt", "created_at", "time"];

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

/** `path`: where `reading-host.ts` shows it, including a fork's bytes from its source. */
function* streamLogs(root: string): Generator<FoundLog> {
  for (const { path, file, status, isJson, base } of streamsIn(root).values()) {
    if (status !== "live" || !isJson) continue;
    const stats = statSync(join(root, "logs", file), { throwIfNoEntry: false });
    const size = base + (stats?.size ?? 0);
    const log = `logs/${streamPathToFilename(path)}`;
    yield { id: path, path: log, size, mtimeMs: stats?.mtimeMs ?? 0 };
  }
}

function decode(value: unknown): DecodedValue {
  if (!isObject(value)) {
    return { entry: { ...emptyEntry({ value }), parts: [shown(value)] }, fault: null };
  }
  const line = decodeLine(value);
  if (line.entry !== null && line.entry.kind !== "other") return line;
  const other = { ...emptyEntry(value), at: timeOf(value), parts: [shown(value)] };
  return { entry: { ...other, ...saidIn(value) }, fault: null };
}

/** Unknown JSON is shown as it is. */
function shown(value: unknown): Part {
  return { type: "text", text: `\`\`\`json\n${compactJson(value)}\n\`\`\`` };
}

function saidIn(value: Native): Mutable<Partial<Entry>> {
  const { kind, role, parts, content } = value;
  if (KINDS.includes(kind) && Array.isArray(parts)) return neutralOf(value);
  const speaker = role === "developer" ? "system" : role;
  if (ROLES.includes(speaker)) {
    if (Array.isArray(parts)) return decodeMessage({ ...value, role: speaker });
    const said = typeof content === "string" || Array.isArray(content) || hasCalls(value);
    if (said) return chatOf(value, speaker as Role);
  }
  const item = typeof value.type === "string" ? decodeItem(value) : null;
  return item !== null && item.kind === "message" && role === undefined ? item : {};
}

/** The time of a line under a usual field name; null if there is none. */
function timeOf(value: JsonObject): string | null {
  for (const name of TIMES) {
    const said = get(value, name);
    const ms = typeof said === "string" ? Date.parse(said) : Number.NaN;
    if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  }
  return null;
}
