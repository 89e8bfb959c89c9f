/** `verbatim copy`, and other commands on databases. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { openLocalStore } from "../../src/streams/local-store.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { CliUser } from "./cli.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("copy moves the streams of a directory to PostgreSQL and back, and prints no password", async () => {
    const user = new CliUser();
    const url = await newDatabase();
    await fill(user.cwd);
    const args = ["copy", "--from", "data", "--to", url.replace("postgres@", "postgres:secret@")];
    const there = await user.run(args);
    assert.equal(there.code, 0, there.stderr);
    assert.match(there.stdout, /^1 stream, 5 bytes and 0 records copied to postgres:/);
    assert.match(there.stderr, /not copied: tokens.json/);
    const back = await user.run(["copy", "--from", url, "--to", "back", "--json"]);
    assert.equal(back.code, 0, back.stderr);
    const { from, to, ...rest } = JSON.parse(back.stdout);
    assert.deepEqual(rest, { streams: 1, bytes: 5, records: 0, resumed: false });
    assert.equal(to, join(user.cwd, "back"));
    assert.ok(!/host=|secret/.test(from + there.stdout + there.stderr));
    assert.equal(readFileSync(join(user.cwd, "back/logs/s.bin"), "utf8"), "hello");
    const again = await user.run(args);
    assert.equal(again.code, 7);
    assert.match(again.stderr, /COPY_REFUSED/);
    assert.ok(!again.stderr.includes("secret"));
  });

  test("copy needs both sides", async () => {
    const { code, stderr } = await new CliUser().run(["copy", "--from", "data"]);
    assert.equal(code, 2);
    assert.match(stderr, /--from and --to/);
  });
});

async function fill(directory: string): Promise<void> {
  const store = await openLocalStore({ dataDirectory: join(directory, "data") });
  const body = Buffer.from("hello");
  await store.create("/s", { contentType: "text/plain", body, isClosed: false });
  await store.close();
  const { writeFileSync } = await import("node:fs");
  writeFileSync(join(directory, "data/tokens.json"), "{}");
}

/** The command line has no option for a schema. */
async function newDatabase(): Promise<string> {
  const url = await sharedPostgres();
  const name = newSchema();
  await rowsIn(url, `CREATE DATABASE ${name}`);
  return url.replace("/postgres?", `/${name}?`);
}
