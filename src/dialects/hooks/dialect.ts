/**
 * claude: Claude's sessions, with the entries of the Agent SDK. Page: docs/formats/claude.md.
 *
 * Root: the project's directory, or any other. A neutral session id is `<project>/<session>`, and
 * `<project>/<session>/<subpath>` for a subagent.
 */

import type { Native } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import type { WrittenDialect } from "../dialect.ts";
import { isProgramsPrompt, isSilent } from "../entire/aside.ts";
import { compaction, resultViews, subagents, tools } from "../entire/claude-rows.ts";
import { rowMark } from "../entire/dialect.ts";
import { QueueMemory } from "../entire/queue.ts";
import type { Inbox } from "../facets/files.ts";
import type { TurnRules } from "../facets/turns.ts";
import { requireSessionId } from "../facets/writing.ts";
import { isOthersLine } from "../program-formats.ts";
import { sidecarOpening } from "../shared/checkpoint-opening.ts";
import { requireAgent } from "../shared/new-ids.ts";
import { drainSpool, waitingHooks } from "./files/drain-spool.ts";
import { hooksMayWait, hooksStillWait, spoolDirectory } from "./files/spool-names.ts";
import type { HookSource } from "./hook-spool.ts";
import { isSilentHook } from "./hooks.ts";
import { asideOf, complete, decode, express, once, takingBack } from "./lines.ts";
import {
  idAt,
  LOG_NAME,
  logPath,
  parseSessionKey,
  SESSIONS_PATH,
  sessionIdOf,
} from "./session-id.ts";

/** The spool of recorded hooks that wait for their sessions. */
const inbox: Inbox = {
  mayWait: hooksMayWait,
  waiting: waitingHooks,
  drain: drainSpool,
  directory: spoolDirectory,
  warning: hooksStillWait,
};

/**
 * Checkpoints are in a sidecar file, because readers of a session's log want only its
 * entries. A turn begins with the user's first message after the assistant or a tool.
 */
const turns: TurnRules = {
  isSidecar: true,
  compaction,
  takingBack,

  turnMark(native: Native, id: string | null): TurnMark {
    const role = decode(native).entry?.role ?? null;
    return rowMark(native, role, asideOf(native, id) === "other_agent");
  },

  opening: sidecarOpening("claude"),
};

/** The dialect of the program that runs the hooks, by their source. */
const HOOKED: Readonly<Record<string, string>> = {
  ["claude-code-hooks" satisfies HookSource]: "claude-code",
  ["codex-hooks" satisfies HookSource]: "codex",
};

export const claude: WrittenDialect<"claude"> = {
  name: "claude",
  naming: {
    layout: { under: SESSIONS_PATH, logName: LOG_NAME, idAt },
    logPath,
    idAt,
    agentOf: (id) => parseSessionKey(id)?.projectKey ?? null,
    hooksOf(id) {
      const { projectKey = "", sessionId = "", subpath } = parseSessionKey(id) ?? {};
      const dialect = subpath === undefined ? HOOKED[projectKey] : undefined;
      return dialect === undefined ? null : { dialect, name: sessionId };
    },
    hooksIdOf(dialect, sessionId) {
      const [projectKey] = Object.entries(HOOKED).find(([, program]) => program === dialect) ?? [];
      return projectKey === undefined ? null : sessionIdOf({ projectKey, sessionId });
    },
  },
  reading: {
    decode,
    /**
     * Any object with a type is an entry (`complete`), so only known lines of other programs are
     * not.
     */
    isOwn: (value: unknown) => decode(value).entry !== null && !isOthersLine(value),
    asideOf,
    isSilent: (native) => isSilentHook(native) || isSilent(native),
    isProgramsPrompt,
    remembers: (state) => new QueueMemory(state),
    tools,
    resultViews,
    subagents,
  },
  turns,
  writing: {
    newIds: {
      make: (agent, _, uuid) => sessionIdOf({ projectKey: requireAgent(agent), sessionId: uuid }),
    },
    express,
    complete,
    /** Next to the subagent's log; elsewhere its rows would be outside the conversation (`asideOf`). */
    forkId(parent, uuid) {
      const key = parseSessionKey(parent);
      if (key?.subpath === undefined) return undefined;
      const directory = key.subpath.slice(0, key.subpath.lastIndexOf("/") + 1);
      return sessionIdOf({ ...key, subpath: `${directory}agent-${uuid}` });
    },
    recording: requireSessionId("claude", "<project>/<session>"),
    once,
  },
  files: {
    inbox,
  },
};
