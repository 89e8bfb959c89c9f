/** codex: the rollouts that Codex keeps in the user's home. Page: docs/formats/codex.md. */

import { readerDialect } from "../reader.ts";
import { rows } from "./decode.ts";
import { convert, files, logsIn } from "./files/rollouts.ts";
import { RolloutMemory } from "./memory.ts";
import { resultViews } from "./result-views.ts";
import { idAt, layout, logPath, nameOf } from "./session-id.ts";
import { subagents } from "./subagents.ts";
import { tools } from "./tools.ts";

export const codex = readerDialect("codex", {
  tools,
  resultViews,
  subagents,
  program: {
    label: "Codex",
    resume: (name) => `codex resume ${name}`,
    roots({ environment: { CODEX_HOME }, home }) {
      return [CODEX_HOME?.startsWith("/") ? CODEX_HOME : `${home}/.codex`];
    },
    changes: "grows",
  },
  usageIn: "totals",
  layout: { ...layout, logsIn },
  convert,
  logPath,
  idAt,
  nameOf,
  ...rows,
  files: async () => files,
  remembers: (state) => new RolloutMemory(state),
});
