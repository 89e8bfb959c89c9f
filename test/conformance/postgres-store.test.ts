import { describe } from "vitest";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { runs } from "../support/seed.ts";
import { runStreamStoreSuite } from "./stream-store.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  runStreamStoreSuite({
    name: "the PostgreSQL store",
    scripts: runs(12),
    newPlace() {
      const schema = newSchema();
      return {
        open: async (now) =>
          openPostgresStore(await sharedPostgres(), { schema, now, durability: "memory" }),
      };
    },
  });
});
