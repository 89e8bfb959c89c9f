/**
 * entire: session transcripts that Entire reads. Page: docs/formats/entire.md.
 *
 * Root: the project's directory, which is also what rows call `cwd`.
 */

import type { Dialect } from "../dialect.ts";
import { getString, isObject } from "../fields.ts";
import { isTranscriptRow } from "../recognise.ts";
import { asideOf, isProgramsPrompt } from "./aside.ts";
import { chain } from "./chain.ts";
import { compaction } from "./compaction.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { express } from "./express.ts";
import { QueueMemory } from "./queue.ts";
import { idAt, logPath } from "./session-id.ts";
import { signing } from "./signing.ts";
import { isSilent } from "./silent.ts";
import { spilling } from "./spill.ts";

export const entire: Dialect = {
  name: "entire",
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
