/** openclaw: the sessions of OpenClaw's agents. Rows are pi's. Page: docs/formats/openclaw.md. */

import type { Aside } from "../../model/entry.ts";
import { inHome } from "../agent-program.ts";
import type { Native } from "../dialect.ts";
import { get, getObject } from "../fields.ts";
import { decode } from "../pi/decode.ts";
import { resultViews } from "../pi/result-views.ts";
import * as rows from "../pi/rows.ts";
import { tools } from "../pi/tools.ts";
import { readerDialect } from "../reader.ts";
import { agentOf, idAt, layout, logPath, nameOf, parentOf } from "./session-id.ts";

/** The directory, and the names that OpenClaw had before. */
const DIRECTORIES = [".openclaw", ".clawdbot", ".moltbot", ".moldbot"];
/** Models of messages that OpenClaw itself writes in the model's name. */
const OWN_MODELS: readonly unknown[] = ["delivery-mirror", "gateway-injected"];

export const openclaw = readerDialect("openclaw", {
  tools,
  resultViews,
  program: {
    label: "OpenClaw",
    roots({ environment, home }) {
      const { OPENCLAW_STATE_DIR, CLAWDBOT_STATE_DIR, OPENCLAW_HOME } = environment;
      const above = inHome(OPENCLAW_HOME, home) ?? home;
      const given = inHome(OPENCLAW_STATE_DIR, above) ?? inHome(CLAWDBOT_STATE_DIR, above);
      return given === null ? DIRECTORIES.map((name) => `${above}/${name}`) : [given];
    },
    changes: "grows",
    hasForks: true,
  },
  layout,
  logPath,
  idAt,
  nameOf,
  agentOf,
  decode,
  isOwn: rows.isHeader,
  about: (row, id) => rows.about(row, (named) => parentOf(id, named)),
  asideOf,
  isSilent: rows.isSilent,
  isProgramsPrompt: rows.isProgramsPrompt,
  branching: rows.branching,
  compaction: rows.compaction,
});

function asideOf(row: Native): Aside | null {
  const message = getObject(row, "message");
  const isOwn =
    get(message, "provider") === "openclaw" && OWN_MODELS.includes(get(message, "model"));
  return isOwn ? "program" : rows.asideOf(row);
}
