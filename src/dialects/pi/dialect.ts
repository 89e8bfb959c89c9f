/** pi: the sessions of the pi coding agent. Page: docs/formats/pi.md. */

import { inHome } from "../agent-program.ts";
import { readerDialect } from "../reader.ts";
import { decode } from "./decode.ts";
import { resultViews } from "./result-views.ts";
import {
  about,
  asideOf,
  branching,
  compaction,
  isHeader,
  isProgramsPrompt,
  isSilent,
} from "./rows.ts";
import { idAt, layout, logPath, nameOf, parentAt } from "./session-id.ts";
import { tools } from "./tools.ts";

export const pi = readerDialect("pi", {
  tools,
  resultViews,
  program: {
    label: "pi",
    roots({ environment: { PI_CODING_AGENT_DIR, PI_CODING_AGENT_SESSION_DIR }, home }) {
      const sessions = inHome(PI_CODING_AGENT_SESSION_DIR, home);
      const agent = inHome(PI_CODING_AGENT_DIR, home) ?? `${home}/.pi/agent`;
      return [agent, ...(sessions === null ? [] : [sessions])];
    },
    changes: "grows",
    hasForks: true,
  },
  layout,
  logPath,
  idAt,
  nameOf,
  decode,
  isOwn: isHeader,
  about: (row) => about(row, parentAt),
  asideOf,
  isSilent,
  isProgramsPrompt,
  branching,
  compaction,
});
