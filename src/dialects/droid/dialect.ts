/** droid: the sessions of Factory's Droid. Page: docs/formats/droid.md. */

import { type About, inHome } from "../agent-program.ts";
import type { Native } from "../dialect.ts";
import { get, getString, has, isObject } from "../fields.ts";
import { readerDialect } from "../reader.ts";
import { decode } from "./decode.ts";
import { idAt, layout, logPath, nameOf, siblingOf } from "./session-id.ts";
import { tools } from "./tools.ts";

export const droid = readerDialect("droid", {
  tools,
  program: {
    label: "Droid",
    roots: ({ environment: { FACTORY_HOME_OVERRIDE }, home }) => [
      `${inHome(FACTORY_HOME_OVERRIDE, home) ?? home}/.factory`,
    ],
    changes: "grows",
  },
  layout,
  logPath,
  idAt,
  nameOf,
  decode,
  isOwn,
  about,
  asideOf: (row) => (get(row, "visibility") === "user_only" ? "program" : null),
  isProgramsPrompt: (row) => decode(row).entry?.saidBy !== undefined,
  isSilent: (row) => SILENT_TYPES.includes(get(row, "type")),
});

const SILENT_TYPES: readonly unknown[] = [
  ...["todo_state", "session_settings", "agent_turn_outcome", "session_end"],
];

/** The first row of a session, or a row of the stream that has keys which only Droid writes. */
function isOwn(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isText = (key: string) => getString(value, key) !== null;
  const isOfSession = isText("session_id") || isText("sessionId");
  switch (get(value, "type")) {
    case "session_start":
      return isText("id") && isText("title");
    case "message":
      return isOfSession && isText("role") && isText("text");
    case "tool_call":
      return isOfSession && isText("toolName") && has(value, "parameters");
    case "completion":
      return isOfSession && isText("finalText");
    default:
      return false;
  }
}

function about(row: Native, id: string): About | null {
  const type = get(row, "type");
  if (type === "system") return { cwd: getString(row, "cwd") ?? "" };
  if (type !== "session_start") return null;
  const title = getString(row, "sessionTitle") || getString(row, "title") || "";
  const caller = getString(row, "callingSessionId");
  return {
    cwd: getString(row, "cwd") ?? "",
    title: title === "New Session" ? "" : title,
    parent: (caller === null ? null : siblingOf(id, caller)) ?? "",
  };
}
