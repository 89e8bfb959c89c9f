/**
 * OpenCode's part in a test, in a process of its own: writes messages of three parts, each in one
 * transaction, until it is killed; or locks its database and waits.
 */

import { OpencodeDatabase } from "./opencode-database.ts";

const [path = "", what] = process.argv.slice(2);
const written = new OpencodeDatabase(path);
if (what === "lock") {
  written.database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  written.session("ses_locked");
  written.database.exec("COMMIT");
  process.stdout.write("locked\n");
  setInterval(() => written, 1000); // Otherwise it is garbage, and its lock is released.
} else {
  for (let at = 1; ; at++) {
    written.database.exec("BEGIN IMMEDIATE");
    const id = `msg_${String(at).padStart(6, "0")}`;
    const part = { type: "text", text: `${at} ${"x".repeat(500)}` };
    written.message("ses_1", id, at, { role: "user", time: { created: at } }, [part, part, part]);
    written.database.exec("COMMIT");
    if (at % 20 === 0) process.stdout.write(`${at}\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  }
}
