/** Databases that are refused: too weak, too new, not there; and what is reported about good ones. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, onTestFinished, test } from "vitest";
import { databaseError } from "../../src/streams/postgres/database-errors.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { refusal } from "../support/refusal.ts";

/** Of the driver: what it throws has no code. */
const sasl = createRequire(import.meta.url)("pg/lib/crypto/sasl");

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a database that promises less than is required is refused, with its settings", async () => {
    const url = await sharedPostgres(); // Its fsync is off.
    for (const durability of [undefined, "disk", "standby"] as const) {
      const opening = openPostgresStore(url, { schema: newSchema(), durability });
      const { details } = await refusal(opening, "POSTGRES_REFUSED");
      assert.match(details.reason, /"memory".*fsync=off/);
    }
  });

  test("an open store reports what the database promises", async () => {
    const choices = { schema: newSchema(), durability: "memory" } as const;
    const store = await openPostgresStore(await sharedPostgres(), choices);
    const { durability, dataChecksums, settings } = store.promises;
    await store.close();
    assert.deepEqual([durability, dataChecksums, settings.fsync], ["memory", true, "off"]);
  });

  test("tables of a newer version are refused and not changed", async () => {
    const url = await sharedPostgres();
    const choices = { schema: newSchema(), durability: "memory" } as const;
    await (await openPostgresStore(url, choices)).close();
    await rowsIn(url, `UPDATE ${choices.schema}.version SET number = 99`);
    const { details } = await refusal(openPostgresStore(url, choices), "POSTGRES_REFUSED");
    assert.match(details.reason, /version 99/);
  });

  test("a server that runs while a newer one upgrades the tables says so", async () => {
    const url = await sharedPostgres();
    const { schema, ...choices } = { schema: newSchema(), durability: "memory" } as const;
    const store = await openPostgresStore(url, { schema, ...choices });
    onTestFinished(() => store.close());
    await store.create("/s", { body: Buffer.from("x"), isClosed: false });
    const append = () => store.append("/s", { body: Buffer.from("y"), close: false });
    await rowsIn(url, `ALTER FUNCTION ${schema}.commit_group RENAME TO commit_group_2`);
    await rowsIn(url, `ALTER TABLE ${schema}.messages RENAME COLUMN crc TO crc_2`);
    await refusal(append(), "IO_ERROR"); // No newer server did it.
    await rowsIn(url, `UPDATE ${schema}.version SET number = 99`);
    for (const request of [append, () => store.read("/s", "start", 100)]) {
      const { message, details } = await refusal(request(), "STORE_UNAVAILABLE");
      assert.match(message, /newer server has upgraded .* version 99 .* Update this server/);
      assert.equal(details.outcome, "unchanged");
    }
  });

  test("a database that is not there is reported without the password of its URL", async () => {
    const url = "postgres://me:secret@127.0.0.1:1/none?password=hidden";
    const error = await refusal(openPostgresStore(url), "STORE_UNAVAILABLE");
    assert.equal(error.details.path, "postgres://me@127.0.0.1:1/none");
    assert.ok(!/secret|hidden/.test(error.message));
  });

  test("a wrong database or user, and a user without rights, are refused with what to do", async () => {
    const url = await sharedPostgres();
    const user = newSchema();
    await rowsIn(url, `CREATE ROLE ${user} LOGIN`);
    for (const [wrong, next] of [
      [url.replace("/postgres?", "/none?"), /no such database; create it with `createdb`/],
      [url.replace("//postgres@", "//none@"), /the user is not accepted; check .*pg_hba/],
      [url.replace("//postgres@", `//${user}@`), /may not do this; make it the owner/],
    ] as const) {
      const opening = openPostgresStore(wrong, { schema: newSchema(), durability: "memory" });
      const { details } = await refusal(opening, "POSTGRES_REFUSED");
      assert.match(details.reason, next);
    }
  });

  test("a missing password is refused, not retried", async () => {
    const answered = { message: "SASLInitialResponse", clientNonce: "n" };
    await assert.rejects(
      async () => sasl.continueSession(answered, undefined, ""),
      (cause) => databaseError("place", cause).code === "POSTGRES_REFUSED",
    );
  });

  test("a schema name that would need quotes is refused", async () => {
    for (const schema of ["", "A", "a-b", 'a"; DROP', "a".repeat(64)]) {
      await refusal(openPostgresStore("postgres://127.0.0.1:1/x", { schema }), "BAD_SETTING");
    }
  });
});
