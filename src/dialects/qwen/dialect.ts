/** qwen: the sessions that Qwen Code keeps in the user's home. Page: docs/formats/qwen.md. */

import { get } from "../fields.ts";
import { tools } from "../gemini-cli/tools.ts";
import { readerDialect } from "../reader.ts";
import { about, decode, isOwn, isProgramsPrompt, resultViews, takingBack } from "./decode.ts";
import { idAt, isSubagent, layout, logPath, nameOf } from "./session-id.ts";

export const qwen = readerDialect("qwen", {
  tools,
  resultViews,
  program: {
    label: "Qwen Code",
    resume: (name) => `qwen --resume ${name}`,
    roots({ environment: { QWEN_RUNTIME_DIR, QWEN_HOME }, home }) {
      const own = [QWEN_RUNTIME_DIR, QWEN_HOME].find((path) => path?.startsWith("/"));
      return [own ?? `${home}/.qwen`];
    },
    changes: "grows",
  },
  layout,
  logPath,
  idAt,
  nameOf,
  decode,
  isOwn,
  about,
  asideOf: (row, id, isSubagents = id !== null && isSubagent(id)) =>
    get(row, "isSidechain") === true && !isSubagents ? "other_agent" : null,
  isProgramsPrompt,
  takingBack,
});
