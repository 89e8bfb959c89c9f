/**
 * opencode: the sessions of OpenCode, in its SQLite databases and in the JSON files of older
 * versions. Page: docs/formats/opencode.md.
 */

import { dirname } from "node:path/posix";
import { readerDialect } from "../reader.ts";
import { about, compaction, decode, lineKey, resultViews } from "./decode.ts";
import { convert, logsIn, lookAt } from "./files/sessions.ts";
import { idAt, logPath, nameOf } from "./session-id.ts";
import { tools } from "./tools.ts";

export const opencode = readerDialect("opencode", {
  tools,
  resultViews,
  program: {
    label: "OpenCode",
    resume: (name) => `opencode --session ${name}`,
    roots({ environment: { OPENCODE_DB, XDG_DATA_HOME }, home }) {
      const data = XDG_DATA_HOME?.startsWith("/") ? XDG_DATA_HOME : `${home}/.local/share`;
      const own = `${data}/opencode`;
      return OPENCODE_DB?.startsWith("/") ? [own, dirname(OPENCODE_DB)] : [own];
    },
    changes: "rows",
    lineKey,
  },
  layout: { under: [], levels: [], isLog: () => false, idAt, logsIn, lookAt },
  logPath,
  idAt,
  nameOf,
  decode,
  about,
  compaction,
  convert,
});
