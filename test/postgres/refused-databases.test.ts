/** Databases that are refused: too weak, too new, not there; and what is reported about good ones. */

import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { openPostgresStore } from "../../src/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "../support/postgres.ts";
import { refusal } from "../support/refusal.ts";

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

  test("a database that is not there is reported without the password of its URL", async () => {
    const url = "postgres://me:secret@127.0.0.1:1/none?password=hidden";
    const error = await refusal(openPostgresStore(url), "STORE_UNAVAILABLE");
    assert.equal(error.details.path, "postgres://me@127.0.0.1:1/none");
    assert.ok(!/secret|hidden/.test(error.message));
  });

  test("a schema name that would need quotes is refused", async () => {
    for (const schema of ["", "A", "a-b", 'a"; DROP', "a".repeat(64)]) {
      await refusal(openPostgresStore("postgres://127.0.0.1:1/x", { schema }), "BAD_SETTING");
    }
  });
});
