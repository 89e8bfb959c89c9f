/**
 * Leases: work passes to another server when its holder is frozen, and the frozen one does not act
 * when it wakes. A lease lasts LEASE_MS; unless VERBATIM_TIMES is set, its end is moved to now.
 */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import { LEASE_MS } from "../../src/streams/files/stream-store.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { startChild } from "../support/child.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { times } from "../support/seed.ts";
import { until } from "../support/until.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("the lease of a frozen server passes on, and the server changes nothing when it wakes", async () => {
    const url = await sharedPostgres();
    const schema = newSchema();
    const store = await openPostgresStore(url, { schema, durability: "memory" });
    onTestFinished(() => store.close());
    const holder = startChild("test/postgres/lease-holder.ts", url, schema);
    assert.equal(await holder.line(), "written 0");
    assert.equal(await store.holds("subscriptions"), false);

    process.kill(holder.pid, "SIGSTOP");
    const isOurs = () => store.holds("subscriptions");
    if (times > 1) await until(isOurs, `a lease of ${LEASE_MS} ms ends`);
    else await rowsIn(url, `UPDATE ${schema}.leases SET until = now() - interval '1 ms'`);
    assert.equal(await isOurs(), true);
    await store.putRecord("subscription/a/phase", "of the successor");
    process.kill(holder.pid, "SIGCONT");

    let line = await holder.line();
    while (line?.startsWith("written")) line = await holder.line(); // From before.
    assert.equal(line, "STORE_UNAVAILABLE");
    assert.equal(await holder.line(), "STORE_UNAVAILABLE");
    const records = await store.records("subscription/");
    assert.equal(records.get("subscription/a/phase"), "of the successor");
    assert.equal(await store.holds("subscriptions"), true);
  });
});
