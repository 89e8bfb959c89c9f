/**
 * entire: session transcripts that Entire reads. Page: docs/formats/entire.md.
 *
 * Root: the project's directory, which is also `cwd` in rows.
 *
 * Document host: Entire stores the transcript of Gemini CLI as it is: one JSON document. Such a
 * session is read as a log with one line for each message, and nothing is written to it.
 */

import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../core/base/host.ts";
import type { Native, Role } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import { envelopeText } from "../../trust/proof/checkpoint.ts";
import type { WrittenDialect } from "../dialect.ts";
import type { TurnRules } from "../facets/turns.ts";
import type { LineChain, WriterFacts } from "../facets/writing.ts";
import { type Convert, convertedHost } from "../files/converted-host.ts";
import { convertedDocument } from "../files/json-document.ts";
import { openingWith } from "../shared/checkpoint-opening.ts";
import { getString, isObject } from "../shared/fields.ts";
import { datedIds } from "../shared/new-ids.ts";
import { asideOf, isProgramsPrompt, isSilent } from "./aside.ts";
import { resultViews, subagents, tools } from "./claude-rows.ts";
import { complete, express } from "./complete.ts";
import { isTranscriptRow } from "./decode.ts";
import { recording } from "./files/recording.ts";
import { compactionOfAny, decodeAny, isOthers, TranscriptMemory } from "./other-agents.ts";
import { idAt, LOG_NAME, logPath, SESSIONS_PATH } from "./session-id.ts";
import { spilling } from "./spill.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Gemini CLI indents its document; the first line of a log is longer. */
const DOCUMENT = /^\s*\{\s*\n/;

const convert: Convert = (root, path) =>
  path.at(-1) === LOG_NAME ? convertedDocument(root, path, "messages") : null;

/** A checkpoint is a row without `message`, and part of the chain: Entire ignores it. */
const turns: TurnRules = {
  compaction: compactionOfAny,

  turnMark(native: Native): TurnMark {
    const { role = null, saidBy } = decodeAny(native).entry ?? {};
    if (isOthers(native) && saidBy) return null;
    return rowMark(native, role, asideOf(native) === "other_agent");
  },

  opening(facts: WriterFacts, { previous }: { readonly previous: string | null }) {
    const uuid = facts.newId();
    const fields = {
      type: "checkpoint",
      sessionId: facts.id,
      uuid,
      parentUuid: previous,
      timestamp: new Date(facts.nowMs).toISOString(),
      cwd: envelopeText(facts.cwd),
      version: envelopeText(facts.version),
    };
    return openingWith(fields, uuid);
  },
};

/**
 * The role of a row in the conversation's turns. A program's message in the user's name opens no
 * turn, and rows of another agent (`isOthers`) do not count: they are inside a turn, or before the
 * first.
 */
export function rowMark(native: Native, role: Role | null, isOthers: boolean): TurnMark {
  if (isOthers || isProgramsPrompt(native)) return null;
  if (role === "user") return "opens";
  return role === "assistant" || role === "tool" ? "works" : null;
}

/** Longer ids are ignored; a line may hold 16 MiB. */
const ID_CHARS_MAX = 200;

/**
 * Every row names the row before it (`parentUuid`), whichever program wrote that row.
 *
 * Rows of other programs may form a tree or have no id. The next row refers to the last row in the
 * log that has one.
 */
export const chain: LineChain = {
  idOf(value: unknown): string | null {
    const id = isObject(value) ? getString(value, "uuid") : null;
    return id === null || id === "" || id.length > ID_CHARS_MAX ? null : id;
  },

  parentField: "parentUuid",

  /** Sets the field that `complete` left null. */
  link(native: Native, previous: string | null): Native {
    return { ...native, parentUuid: previous };
  },
};

export const entire: WrittenDialect<"entire"> = {
  name: "entire",
  naming: {
    layout: { under: SESSIONS_PATH, logName: LOG_NAME, depthMax: 1, idAt },
    logPath,
    idAt,
  },
  reading: {
    decode: decodeAny,
    isOwn: isTranscriptRow,
    readsToo: isOthers,
    sessionOf: (value: unknown) => (isObject(value) ? getString(value, "sessionId") : null),
    asideOf,
    isSilent,
    isProgramsPrompt,
    remembers: (state) => new TranscriptMemory(state),
    tools,
    resultViews,
    subagents,
  },
  turns,
  writing: {
    newIds: datedIds,
    express,
    complete,
    splitsMessages: true,
    recording,
    chain,
    spilling,
  },
  files: {
    hostFor: documentHost,
    load: async () => (await import("./files/entire-files.ts")).entireFiles,
  },
};

function documentHost(host: Host, root: string): Host {
  const reading = convertedHost(host, root, convert);
  return {
    ...host,
    files: {
      makeDirectory: (path, options) => host.files.makeDirectory(path, options),
      openDirectory: (path, options) => {
        const { files } = DOCUMENT.test(beginningOf(join(path, LOG_NAME))) ? reading : host;
        return files.openDirectory(path, options);
      },
    },
  };
}

function beginningOf(path: string): string {
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(64);
      return bytes.toString("latin1", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return ""; // Missing, or not a file: opening the log reports it.
  }
}
