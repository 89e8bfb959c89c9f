/**
 * sdk: sessions or chats of a framework (`verbatim-log/openai-agents`, `verbatim-log/ai-sdk`). Each
 * line wraps a value of the framework, unchanged. Page: docs/formats/sdk.md.
 *
 * Root: the project. A session id is `<adapter>/<the framework's own id>`.
 */

import type { Dialect } from "../dialect.ts";
import { agentBefore, perAgent } from "../new-ids.ts";
import { mustBeNamed } from "../recording.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { express } from "./express.ts";
import { cutBefore, LINE_TYPES, takingBack } from "./line.ts";
import { ENDING, idAt, logPath, SESSIONS_PATH } from "./session-id.ts";
import { signing } from "./signing.ts";

export const sdk: Dialect<"sdk"> = {
  name: "sdk",
  layout: {
    under: SESSIONS_PATH,
    levels: [null],
    isLog: (name) => name.endsWith(ENDING),
    idAt,
  },
  newIds: perAgent,
  recording: mustBeNamed("sdk", "<door>/<session>"),
  agentOf: agentBefore,
  signing,
  logPath,
  idAt,
  decode,
  express,
  complete,
  isSilent: ({ type }) => LINE_TYPES.includes(type as string),
  takingBack,
  cutBefore,
};
