/**
 * homeagent: the layout of HomeAgent's transcript writer. Page: docs/formats/homeagent.md.
 *
 * Root: the base directory (`~/.homeagent`). A neutral session id is `<agentId>/<sessionId>`.
 */

import type { TurnMark } from "../../core/model/turns.ts";
import type { Dialect, DialectSigning, Native } from "../dialect.ts";
import { sidecarOpening } from "../shared/checkpoint-opening.ts";
import { agentBefore, perAgent } from "../shared/new-ids.ts";
import { decode } from "./decode.ts";
import { complete, express } from "./express.ts";
import { recording } from "./files/recording.ts";
import { idAt, logPath } from "./session-id.ts";

/**
 * Checkpoints are in a sidecar file, because readers of the log would take them for turn
 * records. A turn begins with the user's first message after the assistant or a tool.
 */
const signing: DialectSigning = {
  isSidecar: true,

  turnMark({ role }: Native): TurnMark {
    if (role === "user") return "opens";
    return role === "assistant" || role === "tool" ? "works" : null;
  },

  opening: sidecarOpening("homeagent"),
};

export const homeagent: Dialect<"homeagent"> = {
  name: "homeagent",
  layout: {
    under: ["agents"],
    levels: [null, "sessions"],
    isLog: (name) => name.endsWith(".jsonl"),
    idAt,
  },
  newIds: perAgent,
  agentOf: agentBefore,
  agentIsSegment: true,
  recording,
  signing,
  logPath,
  idAt,
  decode,
  express,
  complete,
};
