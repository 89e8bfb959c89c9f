/**
 * The least that a first listing of this corpus takes: the bare parse, the facts of a listing counted
 * straight from its rows, and a row per session in SQLite. Understands only the rows that the corpus
 * has, checks nothing, and reads files by their paths.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite");
const [home = "", path = ""] = process.argv.slice(2);
const database = new DatabaseSync(path);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
database.exec("CREATE TABLE sessions (path TEXT PRIMARY KEY, json TEXT) WITHOUT ROWID; BEGIN");
const insert = database.prepare("INSERT INTO sessions VALUES (?, ?)");
let sessions = 0;

for (const root of [".claude/projects", ".codex/sessions"]) {
  const add = root === ".claude/projects" ? addClaude : addCodex;
  for (const name of readdirSync(join(home, root), { recursive: true })) {
    if (!String(name).endsWith(".jsonl")) continue;
    const file = join(home, root, String(name));
    const { size, mtimeMs } = statSync(file);
    const facts = { title: "", model: "", prompts: 0, answers: 0, calls: 0, results: 0, tokens: 0 };
    const row = { size, mtimeMs, lines: 0, createdAt: "", updatedAt: "", cwd: "", ...facts };
    const bytes = readFileSync(file);
    let from = 0;
    for (let to = bytes.indexOf(10); to >= 0; to = bytes.indexOf(10, from)) {
      const line = JSON.parse(bytes.toString("utf8", from, to));
      from = to + 1;
      row.lines++;
      row.createdAt ||= line.timestamp;
      row.updatedAt = line.timestamp;
      add(row, line);
    }
    insert.run(file, JSON.stringify(row));
    sessions++;
  }
}
database.exec("COMMIT");
if (sessions === 0) throw new Error("nothing was read");

function addClaude(row, { message, cwd }) {
  row.cwd ||= cwd;
  if (message.role === "assistant") {
    row.model = message.model;
    row.tokens += message.usage.input_tokens + message.usage.output_tokens;
    if (message.content.some(({ type }) => type === "tool_use")) row.calls++;
    else row.answers++;
  } else if (typeof message.content === "string") {
    row.title ||= message.content.slice(0, 200);
    row.prompts++;
  } else {
    row.results++;
  }
}

function addCodex(row, { type, payload }) {
  if (type === "turn_context") row.model = payload.model;
  if (type === "session_meta") row.cwd = payload.cwd;
  if (payload.type === "function_call") row.calls++;
  if (payload.type === "function_call_output") row.results++;
  if (payload.type === "token_count") row.tokens = payload.info.total_token_usage.total_tokens;
  if (payload.type !== "message") return;
  if (payload.role === "assistant") row.answers++;
  else row.prompts++;
  if (payload.role === "user") row.title ||= payload.content[0].text.slice(0, 200);
}
