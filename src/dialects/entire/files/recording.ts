/** Recording: `verbatim record --dialect entire`. */

import { randomUUID } from "node:crypto";
import type { Recording } from "../../facets/writing.ts";
import { datedId } from "../../shared/new-ids.ts";

export const recording: Recording = {
  options: [
    { name: "model", flags: "--model <name>", summary: "model name for rows that have none" },
    {
      name: "agentVersion",
      flags: "--agent-version <version>",
      summary: "version of the recording program, for rows that have none",
    },
  ],
  storeOptions: ({ model, agentVersion: version }) => ({
    ...(model === undefined ? {} : { model }),
    ...(version === undefined ? {} : { version }),
  }),
  session: async ({ session = datedId(Date.now(), randomUUID()) }) => ({ id: session }),
};
