/**
 * sdk: sessions or chats of a framework (`verbatim-log/openai-agents`, `verbatim-log/ai-sdk`). Each
 * line wraps a value of the framework, unchanged. Page: docs/formats/sdk.md.
 *
 * Root: the project. A session id is `<adapter>/<the framework's own id>`.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";
import type { Native } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import type { WrittenDialect } from "../dialect.ts";
import type { TurnRules } from "../facets/turns.ts";
import { requireSessionId } from "../facets/writing.ts";
import { sidecarOpening } from "../shared/checkpoint-opening.ts";
import { getObject, getString } from "../shared/fields.ts";
import { agentBefore, perAgent } from "../shared/new-ids.ts";
import { complete, express } from "./complete.ts";
import { decode } from "./decode.ts";
import { roleIn } from "./langchain-message.ts";
import { about, cutBefore, LINE_TYPES, START, takingBack } from "./line.ts";

/** Where the sessions are, below the root. */
const SESSIONS_PATH: readonly string[] = [".verbatim", "sdk"];
const ENDING = ".jsonl";

/**
 * Maps adapter and session to a log, and back.
 *
 *     adapter "ai-sdk", session "c1"   <->   "ai-sdk/c1"   <->   .verbatim/sdk/ai-sdk/c1.jsonl
 *
 * Each half is exactly one path segment, so the only `/` in an id is the separator.
 */
function logPath(id: string): readonly string[] {
  const segments = idSegments(id);
  const [door, name] = segments;
  if (door === undefined || name === undefined || segments.length !== 2) {
    throw badId(id, "it is not <framework>/<session>");
  }
  return [...SESSIONS_PATH, door, name + ENDING];
}

function idAt(path: readonly string[]): string | null {
  const [first, second, door, file, ...rest] = path;
  if (first !== SESSIONS_PATH[0] || second !== SESSIONS_PATH[1] || door === undefined) return null;
  if (file === undefined || !file.endsWith(ENDING) || rest.length > 0) return null;
  const id = `${door}/${file.slice(0, -ENDING.length)}`;
  try {
    return idSegments(id).length === 2 ? id : null;
  } catch {
    return null; // Another program's file.
  }
}

function badId(id: string, reason: string): VerbatimError<"BAD_ID"> {
  return new VerbatimError(
    "BAD_ID",
    `the id ${JSON.stringify(id)} is refused: ${reason}; choose one plain path segment`,
    { id, reason },
  );
}

/**
 * Checkpoints are in a sidecar file, so the log has only the frameworks' lines. A turn
 * begins with the user's first message after the model or a tool.
 */
export const signing = turnsOf("sdk");

/** `name`: of the dialect; the name of a signed session begins with it. */
export function turnsOf(name: string): TurnRules {
  return { isSidecar: true, turnMark, opening: sidecarOpening(name) };
}

function turnMark(native: Native): TurnMark {
  const { type } = native;
  if (type === "value") return markOfRole(roleIn(native.value));
  if (type !== "item" && type !== "message" && type !== "entry") return null;
  const said = getObject(native, type);
  if (type === "entry" && said.kind !== "message") return markOfKind(said.kind);
  return markOfRole(getString(said, "role") ?? "assistant");
}

function markOfRole(role: string | null): TurnMark {
  if (role === "user") return "opens";
  return role === null || role === "system" || role === "developer" ? null : "works";
}

/** Turn mark of a neutral entry that is not a message. */
function markOfKind(kind: unknown): TurnMark {
  if (kind === "turn_start") return "step";
  if (kind === "turn_end") return "finishes";
  return kind === "end" ? "ends" : null;
}

export const sdk: WrittenDialect<"sdk"> = {
  name: "sdk",
  naming: {
    layout: {
      under: SESSIONS_PATH,
      levels: [null],
      isLog: (name) => name.endsWith(ENDING),
      idAt,
    },
    logPath,
    idAt,
    agentOf: agentBefore,
  },
  reading: {
    decode,
    about,
    isSilent: ({ type }) => LINE_TYPES.includes(type as string),
  },
  turns: {
    ...signing,
    takingBack,
    cutBefore,
  },
  writing: {
    newIds: perAgent,
    express,
    complete,
    start: START,
    hasMetadata: true,
    recording: requireSessionId("sdk", "<framework>/<session>"),
  },
};
