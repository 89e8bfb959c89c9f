/**
 * gemini-cli: the sessions that Gemini CLI keeps in the user's home. Page:
 * docs/formats/gemini-cli.md.
 */

import { getString } from "../fields.ts";
import { readerDialect } from "../reader.ts";
import { rows } from "./decode.ts";
import { convert, files, logsIn, retention } from "./files/project.ts";
import { GrowingMessages } from "./growing.ts";
import { idAt, layout, logPath, nameOf } from "./session-id.ts";
import { tools } from "./tools.ts";

export const geminiCli = readerDialect("gemini-cli", {
  tools,
  program: {
    label: "Gemini CLI",
    roots: ({ environment: { GEMINI_CLI_HOME }, home }) => [
      `${GEMINI_CLI_HOME?.startsWith("/") ? GEMINI_CLI_HOME : home}/.gemini`,
    ],
    changes: "rewritten",
    retention,
    lineKey: (row) => getString(row, "id"),
  },
  layout: { ...layout, logsIn },
  logPath,
  idAt,
  nameOf,
  ...rows,
  remembers: (state) => new GrowingMessages(state),
  convert,
  files: async () => files,
});
