/** Recording: `verbatim record --dialect homeagent`. */

import { randomUUID } from "node:crypto";
import type { Recording } from "../../facets/writing.ts";
import { sessionIdOf } from "../session-id.ts";

export const recording: Recording = {
  options: [{ name: "agent", flags: "--agent <id>", summary: "id of the agent" }],
  async session({ agent, session = randomUUID() }) {
    if (agent === undefined) return { missing: "homeagent needs --agent" };
    return { id: sessionIdOf(agent, session) };
  },
};
