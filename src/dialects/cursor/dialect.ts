/** cursor: the transcripts of Cursor's agents. Page: docs/formats/cursor.md. */

import { type About, inHome } from "../agent-program.ts";
import type { Native } from "../dialect.ts";
import { get, getString, has, isObject } from "../fields.ts";
import { readerDialect } from "../reader.ts";
import { decode, inputsIn } from "./decode.ts";
import { idAt, layout, logPath, nameOf, parentOf, projectAbove } from "./session-id.ts";
import { tools } from "./tools.ts";

export const cursor = readerDialect("cursor", {
  tools,
  program: {
    label: "Cursor",
    resume: (name) => `cursor-agent --resume ${name}`,
    roots({ environment: { CURSOR_DATA_DIR }, home }) {
      const given = inHome(CURSOR_DATA_DIR, home);
      return [...(given === null ? [] : [given]), `${home}/.cursor`];
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
});

function isOwn(value: unknown): boolean {
  if (!isObject(value) || has(value, "type")) return false;
  const message = get(value, "message");
  const isSaid = /^(?:user|assistant)$/.test(getString(value, "role") ?? "");
  return isSaid && isObject(message) && has(message, "content");
}

/** Rows name no directory, but calls name files in it. */
function about(row: Native, id: string): About | null {
  const parent = parentOf(id) ?? "";
  for (const text of get(row, "role") === "assistant" ? inputsIn(row) : []) {
    const cwd = projectAbove(id, text);
    if (cwd !== null) return { cwd, parent };
  }
  return parent === "" ? null : { parent };
}
