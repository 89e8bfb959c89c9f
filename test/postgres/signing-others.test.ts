/** A server that continues other servers' checkpoints: it verifies them first, and misses no closing. */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { crcOf } from "../../src/streams/journal/journal-record.ts";
import { PostgresDatabase } from "../../src/streams/postgres/database.ts";
import type { PostgresStreams } from "../../src/streams/postgres/postgres-store.ts";
import { GroupView, NotLoaded, StreamCache } from "../../src/streams/postgres/stream-cache.ts";
import { loadStreamSigner } from "../../src/streams/signing/signing-user.ts";
import { Gate } from "../support/gate.ts";
import { lacksPostgres } from "../support/postgres.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import { JSON_STREAM, message, NEVER } from "../support/signed-streams.ts";
import { until } from "../support/until.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a server continues after another's checkpoints without reading what it knows", async () => {
    const { database, one, two } = await bothSigned();
    // Nothing before the checkpoint that it knows is read again.
    await database.rows(`DELETE FROM $.messages WHERE "end" = 4`);
    await one.append("/s", message(3));
    await until(async () => (await database.kinds("/s")).length === 4, "its own checkpoint");
    assert.deepEqual(database.warnings, []);
    await two.close();
    await one.close();
  });

  test("a server does not sign on top of another's checkpoint whose signature is wrong", async () => {
    const { database, one } = await bothSigned();
    const [row] = await database.rows('SELECT * FROM $.checkpoints ORDER BY "end" DESC LIMIT 1');
    const text = String(row?.bytes).replace(/"sig2":"./, (sig2) => {
      return sig2.endsWith("A") ? `${sig2.slice(0, -1)}B` : `${sig2.slice(0, -1)}A`;
    });
    await database.rows(
      `UPDATE $.checkpoints SET bytes = convert_to('${text}', 'UTF8') WHERE "end" = ${row?.end}`,
    );
    await refusesToSign(database, one);
  });

  test("a server does not sign on top of another's checkpoint if the bytes differ from it", async () => {
    const { database, one } = await bothSigned();
    const altered = Buffer.from('"4"\n');
    await database.rows(
      `UPDATE $.messages SET bytes = '\\x${altered.toString("hex")}', crc = ${crcOf(altered) | 0}
       WHERE "end" = (SELECT max("end") FROM $.messages)`,
    );
    await refusesToSign(database, one);
  });

  test("a group is not decided on checkpoints that are older than the version of their stream", async () => {
    const database = await SignedDatabase.create();
    const store = await database.open({ signingCadence: { ...NEVER, appendsMax: 1 } });
    await store.create("/s", { ...JSON_STREAM, body: Buffer.from("[1]") });
    await until(async () => (await database.kinds("/s")).length === 2, "the first one");
    const { url, schema } = database;
    const limits = { readersMax: 1, statementMs: 10_000, connectMs: 10_000 };
    const rows = await PostgresDatabase.open({ url, schema, ...limits });
    onTestFinished(() => rows.close());
    const view = new GroupView(rows, new StreamCache(rows, 10));
    const ends = async () => {
      for (;;) {
        await view.load();
        try {
          return view.checkpointsEnd(view.get("/s") ?? assert.fail("it exists"));
        } catch (error) {
          assert.ok(error instanceof NotLoaded);
        }
      }
    };
    const before = await ends();
    await store.append("/s", message(2));
    await until(async () => (await database.kinds("/s")).length === 3, "the second one");
    assert.equal(await ends(), before, "the old version, which is refused when it is written");
    view.needs.paths.add("/s"); // As for a producer that was not looked for.
    assert.ok((await ends()) > before, "the new version");
  });

  test("a stream that is closed while another server signs it is signed as closed later", async () => {
    const database = await SignedDatabase.create();
    const [quickGate, slowGate] = [new Gate(), new Gate()];
    let isHeld = false; // A server that is opened signs too, for the key of its MACs.
    const open = async (gate: Gate, signingCadence: typeof NEVER) => {
      const signing = await held(database, async () => isHeld && (await gate.pass()));
      return database.open({ signingCadence, signing });
    };
    const quick = await open(quickGate, { ...NEVER, appendsMax: 1 });
    const slow = await open(slowGate, NEVER);
    const signed = async (count: number) => {
      await until(async () => (await database.kinds("/s")).length >= count, `${count} of them`);
      return (await database.kinds("/s"))[count - 1];
    };
    await quick.create("/s", { ...JSON_STREAM, body: Buffer.from("[1]") });
    assert.equal(await signed(2), "batch");
    isHeld = true;
    await quick.append("/s", message(2));
    await quickGate.reached;
    await slow.append("/s", { body: new Uint8Array(0), close: true });
    await slowGate.reached;
    quickGate.open();
    assert.equal(await signed(3), "batch");
    assert.equal((await database.rows("SELECT FROM $.unsigned")).length, 1, "others can see it");
    slowGate.open();
    assert.equal(await signed(4), "final");
    await Promise.all([quick.close(), slow.close()]);
    assert.deepEqual(new Set(Object.values(await database.verdicts())), new Set(["verified"]));
    assert.deepEqual(await database.rows("SELECT * FROM $.unsigned"), []);
  });
});

/** One server has signed a stream, and then another one; the first has not heard of it. */
async function bothSigned() {
  const database = await SignedDatabase.create();
  const options = { signingCadence: { ...NEVER, appendsMax: 1 } };
  const [one, two] = [await database.open(options), await database.open(options)];
  await one.create("/s", { ...JSON_STREAM, body: Buffer.from('["1"]') });
  await until(async () => (await database.kinds("/s")).length === 2, "the first one");
  await two.append("/s", message("2"));
  await until(async () => (await database.kinds("/s")).length === 3, "the second one");
  assert.deepEqual(await database.verdicts(), { "/s": "verified" });
  return { database, one, two };
}

async function refusesToSign(database: SignedDatabase, store: PostgresStreams): Promise<void> {
  assert.equal((await store.append("/s", message("more"))).outcome, "appended");
  await until(() => database.warnings.length > 0, "a warning");
  assert.match(database.warnings[0] ?? "", /is tampered and is not signed any further/);
  assert.equal((await database.kinds("/s")).length, 3);
}

/** A signer whose signatures wait for something else first. */
async function held(database: SignedDatabase, before: () => Promise<unknown>) {
  const signing = await loadStreamSigner(nodeHost, (warning) => database.warnings.push(warning));
  const { signer } = signing;
  const sign = async (bytes: Uint8Array) => {
    await before();
    return signer.sign(bytes);
  };
  return { ...signing, signer: { ...signer, sign } };
}
