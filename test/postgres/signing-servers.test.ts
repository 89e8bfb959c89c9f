/** Several servers that sign: other keys, forks, deletions, lifetimes, broken connections, attacks. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { crcOf } from "../../src/streams/journal/journal-record.ts";
import { pinnedNameOf } from "../../src/streams/postgres/store-options.ts";
import { loadStreamSigner } from "../../src/streams/signing/signing-user.ts";
import { CliUser } from "../cli/cli.ts";
import { Gate, isPending } from "../support/gate.ts";
import { lacksPostgres } from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { isTried, seed } from "../support/seed.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import { JSON_STREAM, message, NEVER, RAW_STREAM } from "../support/signed-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a server with another key signs no stream of the first, and that one states its bytes as found", async () => {
    const database = await SignedDatabase.create();
    const store = await database.open({ signingCadence: NEVER });
    await store.create("/s", JSON_STREAM);
    await store.append("/s", message(1));
    const other = await SignedDatabase.create(database.schema); // Another user.
    const foreign = await other.open({ signingCadence: NEVER });
    assert.equal((await foreign.append("/s", message(2))).outcome, "appended");
    await foreign.close();
    assert.match(other.warnings.join(), /is untrusted and is not signed any further/);
    await store.append("/s", message(3));
    await store.close();
    assert.deepEqual(await database.kinds("/s"), ["genesis", "recovery"]);
    assert.deepEqual(await database.verdicts(), { "/s": "incomplete FOUND_UNSIGNED" });
    assert.deepEqual(database.warnings, []);
  });

  test("after the key was changed, bytes of the old key are signed and the chain hands over", async () => {
    const database = await SignedDatabase.create();
    const old = await database.open({ signingCadence: NEVER });
    await old.create("/s", JSON_STREAM);
    await old.append("/s", message(1));
    await database.user.rotate();
    const store = await database.open({ signingCadence: NEVER });
    await store.append("/s", message(2));
    await store.close();
    assert.deepEqual(await database.kinds("/s"), ["genesis", "rotate", "batch"]);
    assert.deepEqual(await database.verdicts(), { "/s": "verified" });
    assert.deepEqual(database.warnings, []);
  });

  test("a fork and its source, each used on another server, verify; also when the source is deleted", async () => {
    const database = await SignedDatabase.create();
    const signing = await loadStreamSigner(nodeHost, (warning) => database.warnings.push(warning));
    const { signer } = signing;
    const gate = new Gate();
    let isHeld = false; // A server that is opened signs too, for the key of its MACs.
    const sign = async (bytes: Uint8Array) => {
      if (isHeld) await gate.pass();
      return signer.sign(bytes);
    };
    const options = { signingCadence: NEVER };
    const slow = { ...options, signing: { ...signing, signer: { ...signer, sign } } };
    const [one, two] = [await database.open(options), await database.open(slow)];
    await one.create("/a", JSON_STREAM);
    await one.append("/a", message(1));
    isHeld = true;
    const forking = two.create("/fork", { ...JSON_STREAM, fork: { source: "/a" } });
    await gate.reached;
    const isStored = async () => (await database.states()).some(({ path }) => path === "/fork");
    await until(isStored, "the fork is stored");
    assert.ok(await isPending(forking), "it is not answered before its genesis is signed");
    gate.open();
    await forking;
    assert.deepEqual(await database.kinds("/fork"), ["genesis"]);
    await one.append("/fork", message(2));
    await one.append("/a", message(3));
    await two.create("/second", { ...JSON_STREAM, fork: { source: "/fork" } });
    await two.remove("/a");
    await one.append("/second", { body: new Uint8Array(0), close: true });
    await one.close();
    await two.close();
    const verified = { "/a": "verified", "/fork": "verified", "/second": "verified" };
    assert.deepEqual(await database.verdicts(), verified);
    assert.deepEqual(database.warnings, []);
  });

  test("the pin of a stream that another server deleted is removed, on running servers and later ones", async () => {
    const database = await SignedDatabase.create();
    const [here, there] = [process.env.XDG_STATE_HOME ?? "", join(tempDirectory(), "state")];
    const one = await database.open({ signingCadence: { ...NEVER, appendsMax: 1 } });
    process.env.XDG_STATE_HOME = there; // As on another machine, with the same key.
    const two = await database.open({ signingCadence: { ...NEVER, appendsMax: 1 } });
    process.env.XDG_STATE_HOME = here;
    const place = `streams:${pinnedNameOf(database.url, database.schema)}`;
    const pinned = async (id: string) => {
      const { found } = await database.user.heads.read();
      return found.lookup({ place, id, log: null }) !== null;
    };
    for (const path of ["/gone", "/later", "/again"]) {
      await one.create(path, JSON_STREAM);
      await one.append(path, message(1));
      await until(() => pinned(path), `the pin of ${path}`);
    }
    await two.remove("/gone");
    await until(async () => !(await pinned("/gone")), "the pin is removed");
    await one.close();
    for (const path of ["/later", "/again"]) await two.remove(path);
    await two.create("/again", JSON_STREAM);
    await two.append("/again", message("new"));
    await two.close();
    assert.ok((await pinned("/again")) && (await pinned("/later")), "the first server has stopped");
    const later = await database.open({ signingCadence: NEVER });
    assert.equal(await pinned("/later"), false, "another server had deleted it");
    await later.append("/again", message("more"));
    await later.close();
    const report = (await database.reports()).get("/again");
    assert.deepEqual([report?.verdict, report?.freshness], ["verified", "match"]);
    assert.deepEqual(database.warnings, []);
  });

  test("of an expired stream nothing is left: no pin, no checkpoint, no unsigned bytes", async () => {
    const database = await SignedDatabase.create();
    const time = { nowMs: Date.now() };
    const store = await database.open({
      signingCadence: NEVER,
      keepDeletedMs: 1000,
      now: () => time.nowMs,
    });
    const lifetime = { kind: "ttl", seconds: 10 } as const;
    for (const path of ["/s", "/signed"]) {
      await store.create(path, { ...JSON_STREAM, lifetime });
      await store.append(path, message(1));
    }
    await store.create("/fork", { ...JSON_STREAM, lifetime, fork: { source: "/signed" } });
    await store.remove("/fork");
    time.nowMs += 20_000;
    assert.equal(await store.sweep(), 2);
    assert.deepEqual(await database.rows("SELECT * FROM $.unsigned"), []);
    time.nowMs += 2_000;
    await store.sweep();
    assert.deepEqual(await database.rows("SELECT * FROM $.checkpoints"), []);
    await store.close();
    const { found } = await database.user.heads.read();
    assert.deepEqual(found.current(), []);
    assert.deepEqual(database.warnings, []);
  });

  test(`a connection cut at any byte while a stream is signed leaves one chain (seed ${seed})`, async () => {
    const database = await SignedDatabase.create();
    const directory = new URLSearchParams(database.url.split("?")[1]).get("host");
    const proxy = await PostgresProxy.open(directory ?? "");
    onTestFinished(() => proxy.close());
    const behind = new Proxy(database, {
      get: (target, name) => (name === "url" ? proxy.url : Reflect.get(target, name)),
    });
    const cadence = { ...NEVER, appendsMax: 1 };
    const store = await database.open.call(behind, { signingCadence: cadence });
    await store.create("/s", JSON_STREAM);
    const isSigned = async () => (await database.rows("SELECT FROM $.unsigned")).length === 0;
    // Checkpoint 1 is longer than those that follow, so it is not the one that is measured.
    for (const n of [0, 1]) {
      await store.append("/s", message(n));
      await until(isSigned, "signing");
    }
    const { exchanged } = proxy; // By the group that wrote the checkpoint.
    const places = Array.from({ length: exchanged - 1 }, (_, n) => n + 1);
    // Near the end the checkpoint is written, and only the answer is lost.
    const isNearEnd = (n: number) => exchanged - n < 100 && (exchanged - n) % 30 === 5;
    for (const cutAt of places.filter((n) => isTried(n, 400) || isNearEnd(n))) {
      await store.append("/s", message("more"));
      proxy.cutAt = cutAt;
      await until(isSigned, `signing after a cut at ${cutAt}`);
      assert.equal(proxy.cutAt, null, "it was cut");
    }
    assert.ok((await database.checkpoints("/s")).length > 4);
    await store.close();
    assert.deepEqual(await database.verdicts(), { "/s": "verified" });
    assert.deepEqual(database.warnings, []);
  });

  test("a database restored from a backup is signed only after its lost heads were forgotten", async () => {
    const database = await SignedDatabase.create();
    const appendOnce = async (text: string) => {
      const store = await database.open({ signingCadence: NEVER });
      if (text === "one") await store.create("/s", JSON_STREAM);
      await store.append("/s", message(text));
      await store.close();
    };
    const tables = ["streams", "messages", "checkpoints"];
    await appendOnce("one");
    for (const table of tables) {
      await database.rows(`CREATE TABLE $.old_${table} AS TABLE $.${table}`);
    }
    await appendOnce("two");
    for (const table of tables) {
      await database.rows(`DELETE FROM $.${table}`);
      await database.rows(`INSERT INTO $.${table} TABLE $.old_${table}`);
    }
    await appendOnce("three");
    assert.match(database.warnings.join(), /is rollback and is not signed any further/);
    assert.deepEqual(await database.verdicts(), { "/s": "rollback BEHIND" });
    const env = { XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? "" };
    const { stdout } = await new CliUser().run(["keys", "head", "forget", "/s"], { env });
    assert.match(stdout, /^forgot \/s \(streams:\/\//);
    await appendOnce("four");
    assert.equal(database.warnings.length, 1);
    assert.deepEqual(
      await database.verdicts(),
      { "/s": "verified" },
      "the server appended all of it",
    );
  });

  test("one who alters unsigned bytes and their row gets them at most stated as found", async () => {
    const database = await SignedDatabase.create();
    const store = await database.open({ signingCadence: NEVER });
    const alterations = {
      "/longer": `UPDATE $.unsigned SET "end" = "end" + 1000`,
      "/shorter": "UPDATE $.unsigned SET start = start + 1",
      "/none": "DELETE FROM $.unsigned",
      "/other": "UPDATE $.unsigned SET mac = sha256(mac)",
      "/moved": "UPDATE $.unsigned SET mac = (SELECT u.mac FROM $.unsigned u LIMIT 1)",
    };
    for (const [path, sql] of Object.entries(alterations)) {
      await store.create(path, RAW_STREAM);
      await store.append(path, { body: Buffer.from("honest!"), close: false });
      await database.rows(`${sql} WHERE key = sha256('${path}')`);
    }
    await database.rows(
      `UPDATE $.messages SET bytes = 'forged!', crc = ${crcOf(Buffer.from("forged!")) | 0}`,
    );
    await store.close();
    for (const [path, verdict] of Object.entries(await database.verdicts())) {
      assert.match(verdict, /^incomplete (?:FOUND_UNSIGNED|UNSIGNED_TAIL)$/, path);
    }
  });
});
