/**
 * The least that reading a corpus takes: finds each line, parses it, and, with a path for a
 * database, inserts its texts into a bare FTS5 table.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [home = "", path] = process.argv.slice(2);
let database = null;
if (path !== undefined) {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  const options = "content = '', tokenize = 'unicode61 remove_diacritics 2'";
  database.exec(`CREATE VIRTUAL TABLE words USING fts5(text, ${options})`);
}
const insert = database?.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)");
let rows = 0;
for (const root of [".claude/projects", ".codex/sessions"]) {
  for (const name of readdirSync(join(home, root), { recursive: true })) {
    if (!String(name).endsWith(".jsonl")) continue;
    const bytes = readFileSync(join(home, root, String(name)));
    database?.exec("BEGIN");
    let from = 0;
    for (let to = bytes.indexOf(10); to >= 0; to = bytes.indexOf(10, from)) {
      const row = JSON.parse(bytes.toString("utf8", from, to));
      from = to + 1;
      rows++;
      const text = insert === undefined ? "" : textsOf(row.message?.content ?? row.payload);
      if (text !== "") insert?.run(rows, text);
    }
    database?.exec("COMMIT");
  }
}
if (rows === 0) throw new Error("nothing was read");

/** What our index has of these rows: prompts, answers, tools' names, inputs and results. */
function textsOf(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(partText).join("\n");
  if (value?.type === "message") return textsOf(value.content);
  if (value?.type === "function_call") return `${value.name}\n${value.arguments}`;
  return value?.type === "function_call_output" ? value.output : "";
}

function partText(part) {
  if (part.type === "tool_use") return `${part.name}\n${Object.values(part.input).join("\n")}`;
  return part.type === "tool_result" ? part.content : part.text;
}
