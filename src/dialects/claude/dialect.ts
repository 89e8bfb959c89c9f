/**
 * claude: Claude's sessions, with the entries of the Agent SDK. Page: docs/formats/claude.md.
 *
 * Root: the project's directory, or any other. A neutral session id is `<project>/<session>`, and
 * `<project>/<session>/<subpath>` for a subagent.
 */

import type { Dialect } from "../dialect.ts";
import { isProgramsPrompt } from "../entire/aside.ts";
import { compaction } from "../entire/compaction.ts";
import { QueueMemory } from "../entire/queue.ts";
import { isSilent } from "../entire/silent.ts";
import { named } from "../new-ids.ts";
import { isOthersLine } from "../recognise.ts";
import { mustBeNamed } from "../recording.ts";
import { asideOf } from "./aside.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { takingBack } from "./deletion.ts";
import { express } from "./express.ts";
import { inbox } from "./files/inbox.ts";
import { isSilentHook } from "./hooks.ts";
import { once } from "./once.ts";
import { idAt, keyOf, LOG_NAME, logPath, SESSIONS_PATH, sessionIdOf } from "./session-id.ts";
import { signing } from "./signing.ts";

export const claude: Dialect<"claude"> = {
  name: "claude",
  layout: { under: SESSIONS_PATH, logName: LOG_NAME, idAt },
  inbox,
  recording: mustBeNamed("claude", "<project>/<session>"),
  newIds: {
    make: (agent, _, uuid) => sessionIdOf({ projectKey: named(agent), sessionId: uuid }),
  },
  /** Next to the subagent's log; elsewhere its rows would be outside the conversation (aside.ts). */
  forkId(parent, uuid) {
    const key = keyOf(parent);
    if (key?.subpath === undefined) return undefined;
    const directory = key.subpath.slice(0, key.subpath.lastIndexOf("/") + 1);
    return sessionIdOf({ ...key, subpath: `${directory}agent-${uuid}` });
  },
  agentOf: (id) => keyOf(id)?.projectKey ?? null,
  signing,
  logPath,
  idAt,
  decode,
  /**
   * Any object with a type is an entry (complete.ts), so only known lines of other programs are
   * not.
   */
  isOwn: (value: unknown) => decode(value).entry !== null && !isOthersLine(value),
  express,
  complete,
  asideOf,
  isSilent: (native) => isSilentHook(native) || isSilent(native),
  isProgramsPrompt,
  compaction,
  remembers: (state) => new QueueMemory(state),
  takingBack,
  once,
};
