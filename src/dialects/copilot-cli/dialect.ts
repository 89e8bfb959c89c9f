/** copilot-cli: the sessions of GitHub Copilot CLI. Page: docs/formats/copilot-cli.md. */

import { type About, inHome } from "../agent-program.ts";
import type { Native } from "../dialect.ts";
import { get, getObject, getString } from "../fields.ts";
import { readerDialect } from "../reader.ts";
import { agentIn, decode, isEvent, resultViews } from "./decode.ts";
import { Runs } from "./runs.ts";
import { idAt, layout, logPath, nameOf } from "./session-id.ts";
import { subagents } from "./subagents.ts";
import { tools } from "./tools.ts";

/** Events that may be a program's text in the user's role. */
const ADDED_TYPES: readonly unknown[] = [
  ...["user.message", "system.notification", "session.compaction_complete"],
];

export const copilotCli = readerDialect("copilot-cli", {
  tools,
  resultViews,
  subagents,
  program: {
    label: "Copilot CLI",
    resume: (name) => `copilot --resume ${name}`,
    roots({ environment: { COPILOT_HOME, XDG_STATE_HOME }, home }) {
      const given = inHome(COPILOT_HOME, home);
      if (given !== null) return [given];
      const state = inHome(XDG_STATE_HOME, home);
      return [`${home}/.copilot`, ...(state === null ? [] : [`${state}/.copilot`])];
    },
    changes: "grows",
  },
  layout,
  logPath,
  idAt,
  nameOf,
  decode,
  isOwn: isEvent,
  about,
  asideOf: (event) => (agentIn(event) === null ? null : "other_agent"),
  isProgramsPrompt(event) {
    if (!ADDED_TYPES.includes(get(event, "type"))) return false;
    const by = decode(event).entry?.saidBy;
    return by === "program" || by === "summary";
  },
  compaction: {
    isSummary: (event) => decode(event).entry?.saidBy === "summary",
    isBoundary: () => false,
    keptBy: () => new Set(),
  },
  remembers: (state) => new Runs(state),
});

function about(event: Native): About | null {
  const data = getObject(event, "data");
  switch (get(event, "type")) {
    case "session.start":
    case "session.resume": {
      const context = getObject(data, "context");
      return { cwd: getString(context, "cwd") ?? "", branch: getString(context, "branch") ?? "" };
    }
    case "session.context_changed":
      return { cwd: getString(data, "cwd") ?? "", branch: getString(data, "branch") ?? "" };
    case "session.title_changed":
      return { title: getString(data, "title") ?? "" };
    default:
      return null;
  }
}
