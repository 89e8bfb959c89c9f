/** The whole public suite of the Durable Streams protocol, against streams in PostgreSQL. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runConformanceTests } from "@durable-streams/server-conformance-tests";
import { afterAll, beforeAll, describe } from "vitest";
import { openPostgresStore } from "../../src/postgres/postgres-store.ts";
import { type RunningServer, serveStore } from "../../src/server/serve.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  const suite = { baseUrl: "", longPollTimeoutMs: 500, subscriptions: true };
  const dataDirectory = mkdtempSync(join(tmpdir(), "verbatim-conformance-"));
  let server: RunningServer;

  beforeAll(async () => {
    const { longPollTimeoutMs } = suite;
    const choices = { schema: newSchema(), durability: "memory" } as const;
    const store = await openPostgresStore(await sharedPostgres(), choices);
    const options = { dataDirectory, port: 0, longPollTimeoutMs, allowLocalWebhooks: true };
    server = await serveStore(store, options);
    suite.baseUrl = server.url;
  });

  afterAll(async () => {
    await server.close();
    rmSync(dataDirectory, { recursive: true });
  });

  runConformanceTests(suite);
});
