/** Goose's database, made by the schema in its public source. */

export const SCHEMA = `
PRAGMA journal_mode = WAL;
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
  session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,
  created_at TIMESTAMP DEFAULT '2026-01-01 12:00:00',
  updated_at TIMESTAMP DEFAULT '2026-01-01 12:00:00',
  extension_data TEXT DEFAULT '{}', accumulated_total_tokens INTEGER,
  accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
  session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
  content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
  timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages(session_id);
`;

export const SESSION = `INSERT INTO sessions (id, name, working_dir, accumulated_total_tokens,
  accumulated_input_tokens, accumulated_output_tokens, model_config_json)
  VALUES ('20260101_1', 'Count lines', '/home/me/app', 15, 10, 5, '{"model_name":"m1"}');`;

export function message(
  role: string,
  content: unknown,
  at: number,
  metadata: string | null = null,
) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const values = [`m${at}`, "20260101_1", role, text].map((value) => `'${value}'`).join(", ");
  return `INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp,
    metadata_json) VALUES (${values}, ${at}, ${metadata === null ? "NULL" : `'${metadata}'`});`;
}
