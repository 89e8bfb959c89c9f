/** OpenCode's database, made by the schema in its public source. */

import { DatabaseSync } from "@photostructure/sqlite";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS session (
  id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
  directory text NOT NULL, title text NOT NULL, version text NOT NULL, share_url text,
  summary_diffs text, revert text, permission text, model text,
  time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE IF NOT EXISTS message (
  id text PRIMARY KEY,
  session_id text NOT NULL REFERENCES session(id) ON DELETE CASCADE,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE IF NOT EXISTS part (
  id text PRIMARY KEY,
  message_id text NOT NULL REFERENCES message(id) ON DELETE CASCADE,
  session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE IF NOT EXISTS session_message (
  id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX IF NOT EXISTS message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX IF NOT EXISTS part_message_id_id_idx ON part (message_id, id);
CREATE INDEX IF NOT EXISTS part_session_idx ON part (session_id);
`;

export class OpencodeDatabase {
  readonly database: InstanceType<typeof DatabaseSync>;

  constructor(path: string) {
    this.database = new DatabaseSync(path);
    this.database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 20");
    this.database.exec(SCHEMA);
  }

  session(id: string, more: Readonly<Record<string, string | number | null>> = {}): void {
    const row = {
      id,
      project_id: "p",
      parent_id: null,
      slug: "s",
      directory: "/home/me/app",
      title: "Count lines",
      version: "1.3.0",
      time_created: 1000,
      time_updated: 1000,
      ...more,
    };
    this.#insert("session", row);
  }

  /** A message with its parts; `at` is when it was created. */
  message(session: string, id: string, at: number, data: object, parts: readonly object[]): void {
    const times = { time_created: at, time_updated: at };
    const text = (value: object) => JSON.stringify(value);
    this.#insert("message", { id, session_id: session, ...times, data: text(data) });
    for (const [index, part] of parts.entries()) {
      const own = { id: `prt_${id}_${index}`, message_id: id, session_id: session, ...times };
      this.#insert("part", { ...own, data: text(part) });
    }
  }

  event(session: string, seq: number, type: string, data: object): void {
    const own = { id: `evt_${seq}`, session_id: session, type, seq };
    const times = { time_created: seq, time_updated: seq };
    this.#insert("session_message", { ...own, ...times, data: JSON.stringify(data) });
  }

  close(): void {
    this.database.close();
  }

  #insert(table: string, row: Readonly<Record<string, string | number | null>>): void {
    const values = Object.values(row).map((value) => {
      if (typeof value !== "string") return String(value);
      return `'${value.replaceAll("'", "''")}'`;
    });
    const columns = Object.keys(row).join(", ");
    // Not prepared: a statement would keep the closed database open until it is collected.
    this.database.exec(`INSERT INTO ${table} (${columns}) VALUES (${values.join(", ")})`);
  }
}
