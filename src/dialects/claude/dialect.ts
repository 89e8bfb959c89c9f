/**
 * claude: Claude's sessions, entry by entry as the Agent SDK gives them. Page: docs/formats/claude.md.
 *
 * Root: the project's directory, or any other. A neutral session id is `<project>/<session>`, and of
 * a subagent `<project>/<session>/<subpath>`.
 */

import type { Dialect } from "../dialect.ts";
import { isProgramsPrompt } from "../entire/aside.ts";
import { compaction } from "../entire/compaction.ts";
import { QueueMemory } from "../entire/queue.ts";
import { isSilent } from "../entire/silent.ts";
import { isOthersLine } from "../recognise.ts";
import { asideOf } from "./aside.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { takingBack } from "./deletion.ts";
import { express } from "./express.ts";
import { isSilentHook } from "./hooks.ts";
import { once } from "./once.ts";
import { idAt, logPath } from "./session-id.ts";
import { signing } from "./signing.ts";

export const claude: Dialect = {
  name: "claude",
  signing,
  logPath,
  idAt,
  decode,
  /** An entry is any object with a type (complete.ts, C2), so only others' known lines are not. */
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
