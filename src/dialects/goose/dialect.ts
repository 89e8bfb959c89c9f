/**
 * goose: the sessions of Goose, in its SQLite database and in the files of older versions. Page:
 * docs/formats/goose.md.
 */

import { readerDialect } from "../reader.ts";
import { about, decode, lineKey } from "./decode.ts";
import { convert, logsIn, lookAt } from "./files/sessions.ts";
import { FOLDER, idAt, logPath, nameOf } from "./session-id.ts";
import { tools } from "./tools.ts";

export const goose = readerDialect("goose", {
  tools,
  program: {
    label: "Goose",
    roots({ environment: { GOOSE_PATH_ROOT, XDG_DATA_HOME }, home }) {
      if (GOOSE_PATH_ROOT?.startsWith("/")) return [`${GOOSE_PATH_ROOT}/data`];
      const data = XDG_DATA_HOME?.startsWith("/") ? XDG_DATA_HOME : `${home}/.local/share`;
      return [`${data}/goose`];
    },
    changes: "rows",
    lineKey,
  },
  layout: { under: [FOLDER], levels: [], isLog: () => false, idAt, logsIn, lookAt },
  logPath,
  idAt,
  nameOf,
  decode,
  about,
  convert,
});
