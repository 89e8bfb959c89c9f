/** grok: the sessions that Grok Build keeps in the user's home. Page: docs/formats/grok.md. */

import { readerDialect } from "../reader.ts";
import { decode, isOwn, isProgramsPrompt } from "./decode.ts";
import { files } from "./files/summary.ts";
import { convert, logsIn } from "./files/updates.ts";
import { idAt, layout, logPath, nameOf } from "./session-id.ts";
import { tools } from "./tools.ts";

export const grok = readerDialect("grok", {
  tools,
  program: {
    label: "Grok Build",
    roots: ({ environment: { GROK_HOME }, home }) => [
      GROK_HOME?.startsWith("/") ? GROK_HOME : `${home}/.grok`,
    ],
    changes: "rewritten",
  },
  layout: { ...layout, logsIn },
  convert,
  logPath,
  idAt,
  nameOf,
  decode,
  isOwn,
  isProgramsPrompt,
  files: async () => files,
});
