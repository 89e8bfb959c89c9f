/**
 * homeagent: the layout of HomeAgent's transcript writer. Page: docs/formats/homeagent.md.
 *
 * Root: the base directory (`~/.homeagent`). A neutral session id is `<agentId>/<sessionId>`.
 */

import { homeagentRoot } from "../../base/node-places.ts";
import type { Dialect } from "../dialect.ts";
import { agentBefore, perAgent } from "../new-ids.ts";
import { complete } from "./complete.ts";
import { decode } from "./decode.ts";
import { express } from "./express.ts";
import { recording } from "./files/recording.ts";
import { idAt, logPath } from "./session-id.ts";
import { signing } from "./signing.ts";

export const homeagent: Dialect<"homeagent"> = {
  name: "homeagent",
  layout: {
    under: ["agents"],
    levels: [null, "sessions"],
    isLog: (name) => name.endsWith(".jsonl"),
    idAt,
  },
  usersRoot: homeagentRoot,
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
