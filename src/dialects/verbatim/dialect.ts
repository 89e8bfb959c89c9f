/**
 * verbatim: our own neutral layout, for programs that have no other layout to match. Each line holds
 * one entry whole, in the shape of `entry` lines of the sdk dialect. Page: docs/formats/verbatim.md.
 *
 * Root: the project.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import type { Native } from "../../core/model/entry.ts";
import {
  checkedEntry,
  checkedLabels,
  LABEL_NAMES,
  refuseNamedFiles,
} from "../../core/model/entry-check.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import type { WrittenDialect } from "../dialect.ts";
import type { WriterFacts } from "../facets/writing.ts";
import { proxiedId, proxiedSession } from "../proxied-programs.ts";
import { getObject, getString, isObject } from "../shared/fields.ts";
import { datedIds } from "../shared/new-ids.ts";
import { spillingBy } from "../shared/spill.ts";
import { complete as completeLine, express } from "./complete.ts";
import { decode } from "./decode.ts";
import { about, compaction, START } from "./line.ts";
import { turnsOf } from "./sdk-dialect.ts";

/** Where the sessions are, below the root. */
const SESSIONS_PATH: readonly string[] = [".verbatim", "sessions"];
const ENDING = ".jsonl";

/**
 * Session ids of our own layout: `<id>` <-> `.verbatim/sessions/<id>.jsonl`. An id is one path
 * segment.
 */
function logPath(id: string): readonly string[] {
  if (idSegments(id).length !== 1) {
    const reason = "it is more than one path segment";
    throw new VerbatimError(
      "BAD_ID",
      `the id ${JSON.stringify(id)} is refused: ${reason}; choose one without a slash`,
      { id, reason },
    );
  }
  return [...SESSIONS_PATH, id + ENDING];
}

function idAt(path: readonly string[]): string | null {
  const [first, second, file, ...rest] = path;
  if (first !== SESSIONS_PATH[0] || second !== SESSIONS_PATH[1] || rest.length > 0) return null;
  if (file === undefined || !file.endsWith(ENDING)) return null;
  const id = file.slice(0, -ENDING.length);
  try {
    return idSegments(id).length === 1 ? id : null;
  } catch {
    return null; // Not a session's file.
  }
}

const TYPE = "entry";

/** Half of what a log takes, so that a few long lines still share a write. */
export const LINE_BYTES_MAX = LOG_LIMITS.lineBytesMax / 2;

const spilling = spillingBy({
  lineBytesMax: LINE_BYTES_MAX,
  growthBytes: 0,
  contentKey: TYPE,
  writersKeys: ["type", "id", "at", "agent", "parent", ...LABEL_NAMES],
  // Not the line's id, which may be the caller's.
  stemOf: (_, { newId }) => newId().replaceAll("-", ""),
  sharedEnding: ENDING,
});

export const verbatim: WrittenDialect<"verbatim"> = {
  name: "verbatim",
  naming: {
    layout: {
      under: SESSIONS_PATH,
      levels: [],
      isLog: (name) => name.endsWith(ENDING),
      idAt,
    },
    logPath,
    idAt,
    // What `verbatim proxy` recorded of a program that names its session (docs/formats/wire.md).
    hooksOf: proxiedSession,
    hooksIdOf: proxiedId,
  },
  reading: {
    decode,
    isOwn: (value) => isObject(value) && value.type === TYPE && decode(value).entry !== null,
    about,
    agentSaidIn: (native) => getString(native, "agent") || null,
    isSilent: ({ type }) => type === TYPE,
  },
  turns: { ...turnsOf("verbatim"), compaction },
  writing: {
    newIds: datedIds,
    express,
    complete,
    start: START,
    hasMetadata: true,
    spilling,
  },
};

/** Accepts a whole line, or an entry alone, which it checks as `append` does. */
function complete(given: Native, facts: WriterFacts): Native {
  if (!isObject(given)) throw invalidEntry("entry", "expected object");
  const isAlone = given.type === undefined;
  if (!isAlone && given.type !== TYPE) throw invalidEntry("type", `expected ${TYPE}`);
  if (given.spill !== undefined) throw invalidEntry("spill", "reserved for the store");
  const { entry: _, agent = facts.agent || undefined, ...line } = isAlone ? { type: TYPE } : given;
  for (const [field, value] of Object.entries({ agent, parent: line.parent })) {
    if (value !== undefined && typeof value !== "string") {
      throw invalidEntry(field, "expected string");
    }
  }
  const labels = LABEL_NAMES.map((name) => [name, line[name as keyof typeof line]]);
  checkedLabels(Object.fromEntries(labels));
  const { id, ...alone } = isAlone ? given : line;
  const { at, ...entry } = checkedEntry(isAlone ? alone : getObject(given, "entry"));
  if (isAlone) refuseNamedFiles(entry);
  return completeLine({ ...line, id, at: line.at ?? at ?? undefined, agent, entry }, facts);
}
