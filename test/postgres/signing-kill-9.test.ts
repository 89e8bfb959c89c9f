/** Servers that sign streams of one database, really killed: another one continues. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { unit } from "../crash/lines.ts";
import { killAfter } from "../signing/kill-after.ts";
import { startChild } from "../support/child.ts";
import { lacksPostgres } from "../support/postgres.ts";
import { seed, times } from "../support/seed.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import { JSON_STREAM, message, NEVER, RAW_STREAM } from "../support/signed-streams.ts";
import { until } from "../support/until.ts";

const CHILD = "test/postgres/signing-child.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("when a server is killed while it signs, another continues and everything verifies", async () => {
    const database = await SignedDatabase.create();
    const store = await database.open({ signingCadence: { ...NEVER, appendsMax: 1 } });
    await store.create("/json", JSON_STREAM);
    await store.create("/raw", RAW_STREAM);
    const acknowledged: string[] = [];
    const kills = 3 * times;
    const start = (round: number) =>
      startChild(CHILD, database.url, database.schema, String(round), "1");
    let next = start(0);
    for (let round = 0; round < kills; round++) {
      const child = next;
      if (round + 1 < kills) next = start(round + 1);
      const chance = unit(seed + round, 7);
      const acks = await killAfter(child, 3 + Math.floor(chance * 30), 400 * chance);
      for (let n = 0; n < acks; n++) acknowledged.push(`"${round}.${n};"`);
      const what = `seed ${seed}, round ${round}`;
      for (const path of ["/json", "/raw"]) await store.append(path, message("on"));
      const isSigned = async () => (await database.rows("SELECT FROM $.unsigned")).length === 0;
      await until(isSigned, `${what}: the other server signs`);
      for (const [path, report] of await database.reports()) {
        assert.equal(
          report.verdict,
          "verified",
          `${what}, ${path}: ${report.findings[0]?.message}`,
        );
        assert.ok(report.checkpoints.total > round + 1, what);
      }
      for (const state of await database.states()) {
        const text = (await database.bytes(state, "messages")).toString();
        for (const said of acknowledged) assert.ok(text.includes(said), `${what}: ${said}`);
      }
    }
    assert.deepEqual(database.warnings, []);
  });

  test("what a killed server left unsigned is signed by another, although nothing is appended", async () => {
    const database = await SignedDatabase.create();
    const overdueMs = 3_600_000; // However slow we are, it is left unsigned until it is made older.
    const signingTakeOver = { lookMs: 50, overdueMs };
    const store = await database.open({ signingTakeOver });
    await store.create("/json", JSON_STREAM);
    await store.create("/raw", RAW_STREAM);
    const child = startChild(CHILD, database.url, database.schema, "0", "1000000");
    await killAfter(child, 5, 0);
    assert.deepEqual(await database.kinds("/json"), ["genesis"]);
    assert.equal((await database.verdicts())["/raw"], "incomplete UNSIGNED_TAIL");
    await database.rows("UPDATE $.unsigned SET at = at - interval '1 hour'");
    await database.rows("UPDATE $.leases SET until = now()"); // The killed one may have had it.
    await until(
      async () => (await database.rows("SELECT FROM $.unsigned")).length === 0,
      "signing",
    );
    assert.deepEqual(await database.kinds("/json"), ["genesis", "batch"]);
    assert.deepEqual(await database.verdicts(), { "/json": "verified", "/raw": "verified" });
    assert.deepEqual(database.warnings, []);
  });
});
