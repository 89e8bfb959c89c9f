/**
 * gemini-cli: the sessions that Gemini CLI keeps in the user's home. Page:
 * docs/formats/gemini-cli.md.
 */

import { getString } from "../fields.ts";
import { convertedHost } from "../files/converted-host.ts";
import { readerDialect } from "../reader.ts";
import {
  about,
  compaction,
  decode,
  isNotice,
  isOwn,
  isProgramsPrompt,
  takingBack,
} from "./decode.ts";
import { convert, logsIn } from "./files/documents.ts";
import { files } from "./files/project.ts";
import { retention } from "./files/retention.ts";
import { GrowingMessages } from "./growing.ts";
import { idAt, layout, logPath, nameOf } from "./session-id.ts";

export const geminiCli = readerDialect("gemini-cli", {
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
  decode,
  isOwn,
  about,
  asideOf: (row) => (isNotice(row) ? "program" : null),
  isProgramsPrompt,
  remembers: (state) => new GrowingMessages(state),
  takingBack,
  compaction,
  hostFor: (host, root) => convertedHost(host, root, convert),
  files: async () => files,
});
