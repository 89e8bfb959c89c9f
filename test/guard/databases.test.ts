/** Rows of other programs' databases, guarded while another process writes them. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { onTestFinished, test } from "vitest";
import { message, SCHEMA, SESSION } from "../agents/goose-database.ts";
import { OpencodeDatabase } from "../agents/opencode-database.ts";
import { CliUser } from "../cli/cli.ts";
import { startChild } from "../support/child.ts";
import { GuardedUser } from "../support/guarding.ts";

/** The `id` of each line of a copy. */
function idsOf(user: GuardedUser, path: string): unknown[] {
  assert.equal(user.kept(path).generation, 1, "nothing is reported as lost");
  const lines = (user.copyOf(path) ?? "").split("\n").filter(Boolean);
  return lines.map((line) => {
    const { id, info } = JSON.parse(line) as { id?: unknown; info?: { id?: unknown } };
    return info?.id ?? id;
  });
}

test("OpenCode's rows are guarded once each while another process writes them in transactions", async () => {
  const user = new GuardedUser({ dialect: "opencode" });
  const path = user.pathOf("opencode.db");
  const database = new OpencodeDatabase(path);
  database.session("ses_1");
  database.close();
  const child = startChild("test/agents/opencode-child.ts", path);
  await child.line();
  const guard = await user.open();
  user.directory = guard.directory;
  let written = 0;
  while (written < 200) {
    await guard.scan();
    written = Number(await child.line());
  }
  await child.kill();
  await guard.scan();
  const after = new DatabaseSync(path);
  const [{ count } = { count: 0 }] = after
    .prepare("SELECT count(*) AS count FROM message")
    .all() as [{ count: number }];
  after.exec("BEGIN EXCLUSIVE; COMMIT"); // No lock is left.
  after.close();
  const messages = idsOf(user, "opencode.db/ses_1").filter((id) => String(id).startsWith("msg_"));
  const expected = Array.from(
    { length: count },
    (_, at) => `msg_${String(at + 1).padStart(6, "0")}`,
  );
  assert.deepEqual(messages, expected);
  assert.deepEqual(user.warnings, []);
});

test("Goose's rows are guarded once each, those of an open transaction after it ends", async () => {
  const user = new GuardedUser({ dialect: "goose" });
  mkdirSync(user.pathOf("sessions"));
  const database = new DatabaseSync(user.pathOf("sessions/sessions.db"));
  onTestFinished(() => database.close());
  const text = (said: string) => [{ type: "text", text: said }];
  database.exec(SCHEMA + SESSION + message("user", text("one"), 1));
  const guard = await user.open();
  user.directory = guard.directory;
  await guard.scan();
  const path = "sessions/sessions.db/20260101_1";
  const messages = () => idsOf(user, path).filter((id) => /^m\d$/.test(String(id)));
  assert.deepEqual(messages(), ["m1"]);
  database.exec(`BEGIN IMMEDIATE; ${message("assistant", text("two"), 2)}`);
  await guard.scan();
  assert.deepEqual(messages(), ["m1"]);
  database.exec(`${message("assistant", text("three"), 3)} COMMIT`);
  await guard.scan();
  await guard.scan();
  assert.deepEqual(messages(), ["m1", "m2", "m3"]);
  database.exec("BEGIN EXCLUSIVE; COMMIT");
  assert.deepEqual(user.warnings, []);
});

function userOfOpencode(): { user: CliUser; database: OpencodeDatabase } {
  const user = new CliUser();
  const folder = join(user.home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  const database = new OpencodeDatabase(join(folder, "opencode.db"));
  onTestFinished(() => database.close());
  database.session("ses_1");
  return { user, database };
}

test("a restored row of a database is an export, and says so", async () => {
  const { user, database } = userOfOpencode();
  const data = { role: "user", time: { created: 1 } };
  database.message("ses_1", "msg_1", 1, data, [{ type: "text", text: "keep me" }]);
  assert.equal((await user.run(["guard", "--once"])).code, 0);
  const { code, stderr } = await user.run(["restore", "ses_1", "--to", user.cwd]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /keeps sessions in a database: this is an export, which it does not read/);
  assert.match(readFileSync(join(user.cwd, "ses_1.1.jsonl"), "utf8"), /keep me/);
});

test("rows that were copied without --sign are signed as a whole, and later unsigned ones stay so", async () => {
  const { user, database } = userOfOpencode();
  const say = (n: number) => {
    const data = { role: "user", time: { created: n } };
    database.message("ses_1", `msg_${n}`, n, data, [{ type: "text", text: `message ${n}` }]);
    database.database.exec(`UPDATE session SET time_updated = ${1000 + n}`);
  };
  const verified = async () => (await user.run(["guard", "--verify"])).stdout;
  say(1);
  await user.run(["guard", "--once"]);
  await user.run(["guard", "--once", "--sign"]);
  assert.match(await verified(), /1 generation read, 1 signed and verified, 0 problems/);
  say(2);
  assert.match(
    await verified(),
    /\d lines? of it (is|are) not copied; run `verbatim guard --once`/,
  );
  await user.run(["guard", "--once"]);
  await user.run(["guard", "--once", "--sign"]);
  assert.match(await verified(), /incomplete: .* without --sign; later signatures do not cover it/);
});
