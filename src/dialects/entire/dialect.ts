/**
 * entire: session transcripts that Entire reads. Page: docs/formats/entire.md.
 *
 * Root: the project's directory, which is also `cwd` in rows.
 */

import type { Dialect } from "../dialect.ts";
import { getString, isObject } from "../fields.ts";
import { dated } from "../new-ids.ts";
import { isTranscriptRow } from "../recognise.ts";
import { asideOf, isProgramsPrompt } from "./aside.ts";
import { chain } from "./chain.ts";
import { compaction } from "./compaction.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { express } from "./express.ts";
import { recording } from "./files/recording.ts";
import { OPTIONS } from "./options.ts";
import { QueueMemory } from "./queue.ts";
import { idAt, LOG_NAME, logPath, SESSIONS_PATH } from "./session-id.ts";
import { signing } from "./signing.ts";
import { isSilent } from "./silent.ts";
import { spilling } from "./spill.ts";

export const entire: Dialect<"entire"> = {
  name: "entire",
  layout: { under: SESSIONS_PATH, logName: LOG_NAME, depthMax: 1, idAt },
  newIds: dated,
  splitsMessages: true,
  recording,
  options: OPTIONS,
  files: async () => (await import("./files/entire-files.ts")).entireFiles,
  signing,
  logPath,
  idAt,
  decode,
  isOwn: isTranscriptRow,
  sessionOf: (value: unknown) => (isObject(value) ? getString(value, "sessionId") : null),
  express,
  complete,
  asideOf,
  isSilent,
  isProgramsPrompt,
  compaction,
  remembers: (state) => new QueueMemory(state),
  chain,
  spilling,
};
