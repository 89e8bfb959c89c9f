/**
 * homeagent: the layout of HomeAgent's transcript writer. Page: docs/formats/homeagent.md.
 *
 * Root: the base directory (`~/.homeagent`). A neutral session id is `<agentId>/<sessionId>`.
 */

import type { Native } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import type { WrittenDialect } from "../dialect.ts";
import type { TurnRules } from "../facets/turns.ts";
import { sidecarOpening } from "../shared/checkpoint-opening.ts";
import { agentBefore, perAgent } from "../shared/new-ids.ts";
import { decode } from "./decode.ts";
import { complete, express } from "./express.ts";
import { idAt, logPath, recording } from "./session-id.ts";

/**
 * Checkpoints are in a sidecar file, because readers of the log would take them for turn
 * records. A turn begins with the user's first message after the assistant or a tool.
 */
const turns: TurnRules = {
  isSidecar: true,

  turnMark({ role }: Native): TurnMark {
    if (role === "user") return "opens";
    return role === "assistant" || role === "tool" ? "works" : null;
  },

  opening: sidecarOpening("homeagent"),
};

export const homeagent: WrittenDialect<"homeagent"> = {
  name: "homeagent",
  naming: {
    layout: {
      under: ["agents"],
      levels: [null, "sessions"],
      isLog: (name) => name.endsWith(".jsonl"),
      idAt,
    },
    logPath,
    idAt,
    agentOf: agentBefore,
  },
  reading: {
    decode,
  },
  turns,
  writing: {
    newIds: perAgent,
    express,
    complete,
    agentIsSegment: true,
    recording,
  },
};
