/** `verbatim server copy`, and other commands on databases. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { crcOf } from "../../src/streams/journal/journal-record.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { CliUser } from "./cli.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

describe.skipIf(lacksPostgres)("with a database", () => {
  test("copy moves the streams of a directory to PostgreSQL and back, and prints no password", async () => {
    const user = new CliUser();
    const url = await newDatabase();
    await fill(user.cwd);
    const args = [
      "server",
      "copy",
      "--from",
      "data",
      "--to",
      url.replace("postgres@", "postgres:secret@"),
    ];
    const there = await user.run(args);
    assert.equal(there.code, 0, there.stderr);
    assert.match(there.stdout, /^1 stream, 5 bytes copied to postgres:/);
    assert.match(there.stderr, /^not copied: tokens.json; serve needs them in --data$/m);
    assert.match(there.stderr, /^warning: tokens were not copied: .* a server needs no token$/m);
    const back = await user.run(["server", "copy", "--from", url, "--to", "back", "--json"]);
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

  test("signed streams of a database are verified, checked and backed up while a server runs", async () => {
    const user = new CliUser();
    const url = await newDatabase();
    const sign = ["serve", "--port", "0", "--data", "own", "--sign"];
    const running = user.start([...sign, "--store", url, "--durability", "memory"]);
    const server = /http:\/\/[^\s/]+/.exec((await running.line()) ?? "")?.[0];
    const put = async (path: string, init: RequestInit) => {
      const { status } = await fetch(`${server}/v1/stream/${path}`, {
        headers: JSON_TYPE,
        ...init,
      });
      assert.ok(status < 300, `${status}`);
    };
    await put("s", { method: "PUT", body: '[{"n":1}]' });
    await put("s", { method: "POST", body: '{"n":2}' });
    const from = { ...JSON_TYPE, "Stream-Forked-From": "/v1/stream/s" };
    await put("fork", { method: "PUT", headers: from });
    await put("fork", { method: "POST", body: '{"n":3}' });
    const backup = await user.run(["server", "backup", "copy", "--store", url, "--json"]);
    assert.equal(backup.code, 0, backup.stderr);
    assert.equal(JSON.parse(backup.stdout).streams, 2);
    running.signal("SIGTERM");
    assert.equal(await running.exitCode(), 0);

    const verified = await user.run(["verify", url, "--json"]);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    const reports = verified.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      reports.map(({ session, verdict }) => [session, verdict]),
      [
        ["/fork", "verified"],
        ["/s", "verified"],
      ],
    );
    assert.ok(
      reports.every(({ path }) => path.startsWith("postgres://")),
      verified.stdout,
    );
    const checked = await user.run(["serve", "--check", url, "--json"]);
    assert.equal(checked.code, 0, checked.stderr);
    assert.deepEqual(JSON.parse(checked.stdout), { summary: { streams: 2, damages: 0, notes: 0 } });
    assert.equal((await user.run(["serve", "--check", "copy"])).code, 0);
    const one = await user.run(["verify", url, "/fork", "--json"]);
    assert.equal(one.code, 0, one.stderr);
    assert.equal(JSON.parse(one.stdout).session, "/fork");
    const none = await user.run(["verify", url, "/s", "/none"]);
    assert.equal(none.code, 7);
    assert.match(none.stderr, /no stream \/none .*STREAM_NOT_FOUND/);
    for (const args of [
      ["doctor", "--fix", "--vouch", "/s", "--root", url],
      ["doctor", "--fix", url],
      ["keys", "head", "pin", "/s", "--root", url],
      ["keys", "head", "accept", "/s", "--root", url, "--yes"],
    ]) {
      const refused = await user.run(args);
      assert.equal(refused.code, 7, args.join(" "));
      assert.match(refused.stderr, /verbatim server copy.*POSTGRES_REFUSED/);
    }

    // A checkpoint is gone.
    await rowsIn(url, "CREATE TABLE kept AS SELECT * FROM verbatim.checkpoints");
    const first = 'SELECT min("end") FROM verbatim.checkpoints';
    await rowsIn(url, `DELETE FROM verbatim.checkpoints WHERE "end" IN (${first})`);
    const gap = await user.run(["serve", "--check", url]);
    assert.equal(gap.code, 1);
    assert.match(gap.stdout, /BYTES_DAMAGED.*checkpoints are missing/s);
    await rowsIn(url, "DELETE FROM verbatim.checkpoints");
    await rowsIn(url, "INSERT INTO verbatim.checkpoints SELECT * FROM kept");

    // Someone alters a message and its checksum, then one without it.
    const bytes = Buffer.from('{"n":7}\n');
    const row = `bytes = '\\x${bytes.toString("hex")}', crc = ${crcOf(bytes) | 0}`;
    await rowsIn(url, `UPDATE verbatim.messages SET ${row} WHERE "end" = 8`);
    const tampered = await user.run(["verify", url]);
    assert.equal(tampered.code, 1, tampered.stdout);
    assert.match(tampered.stdout, /tampered/);
    assert.equal((await user.run(["serve", "--check", url])).code, 0);
    await rowsIn(url, "UPDATE verbatim.messages SET crc = 0");
    const damaged = await user.run(["serve", "--check", url]);
    assert.equal(damaged.code, 1);
    assert.match(damaged.stdout, /BYTES_DAMAGED/);
    assert.equal((await user.run(["verify", url])).code, 1);

    // The fork's message is gone, and its row agrees.
    await rowsIn(url, 'DELETE FROM verbatim.messages WHERE "end" = 24');
    await rowsIn(url, `UPDATE verbatim.streams SET "end" = base WHERE path = '/fork'`);
    const shorter = await user.run(["serve", "--check", url]);
    assert.match(shorter.stdout, /SIGNED_OTHERWISE.*its row ends it at byte 0 .*8 are signed/s);
    assert.ok(!/host=/.test(verified.stdout + tampered.stdout + damaged.stdout));
  });

  test("copy needs both sides, each a directory or a database of PostgreSQL", async () => {
    const { code, stderr } = await new CliUser().run(["server", "copy", "--from", "data"]);
    assert.equal(code, 2);
    assert.match(stderr, /--from and --to/);
    const to = ["--to", "mysql://db/streams"];
    const other = await new CliUser().run(["server", "copy", "--from", "data", ...to]);
    assert.equal(other.code, 2);
    assert.match(other.stderr, /--to takes a data directory, or postgres:/);
  });
});

async function fill(directory: string): Promise<void> {
  const store = await openLocalStore({ dataDirectory: join(directory, "data") });
  const body = Buffer.from("hello");
  await store.create("/s", { contentType: "text/plain", body, isClosed: false });
  await store.close();
  for (const name of ["tokens.json", "tokens.json.lock", ".viewer.json", ".viewer.json.lock"]) {
    writeFileSync(join(directory, "data", name), "{}");
  }
}

/** The command line has no option for a schema. */
async function newDatabase(): Promise<string> {
  const url = await sharedPostgres();
  const name = newSchema();
  await rowsIn(url, `CREATE DATABASE ${name}`);
  return url.replace("/postgres?", `/${name}?`);
}
