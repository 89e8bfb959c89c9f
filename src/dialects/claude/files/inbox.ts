/** Inbox: the spool of recorded hooks that wait for their sessions. */

import type { Inbox } from "../../dialect.ts";
import { drainSpool, waitingHooks } from "./drain-spool.ts";
import { hooksMayWait, hooksStillWait, spoolDirectory } from "./hooks-waiting.ts";

export const inbox: Inbox = {
  mayWait: hooksMayWait,
  waiting: waitingHooks,
  drain: drainSpool,
  directory: spoolDirectory,
  warning: hooksStillWait,
};
