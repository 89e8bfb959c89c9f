/** The whole public suite of the Durable Streams protocol, against streams in PostgreSQL. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runConformanceTests } from "@durable-streams/server-conformance-tests";
import { afterAll, beforeAll, describe } from "vitest";
import { type RunningServer, serveStore } from "../../src/server/serve.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { patientTime } from "./patient-time.ts";

describe.skipIf(lacksPostgres)("with a database", () => {
  const suite = { baseUrl: "", longPollTimeoutMs: 59_000, subscriptions: true };
  const time = patientTime();
  const dataDirectory = mkdtempSync(join(tmpdir(), "verbatim-conformance-"));
  let server: RunningServer;

  beforeAll(async () => {
    const now = time.nowMs;
    const choices = { schema: newSchema(), durability: "memory", now } as const;
    const store = await openPostgresStore(await sharedPostgres(), choices);
    const options = { dataDirectory, port: 0, longPollTimeoutMs: 500, allowLocalWebhooks: true };
    server = await serveStore(store, { ...options, time });
    suite.baseUrl = server.url;
  });

  afterAll(async () => {
    await server.close();
    rmSync(dataDirectory, { recursive: true });
  });

  runConformanceTests(suite);
});
