/** The whole public suite of the Durable Streams protocol, against a server on the real disk. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runConformanceTests } from "@durable-streams/server-conformance-tests";
import { afterAll, beforeAll } from "vitest";
import { openServer, type RunningServer } from "../../src/server.ts";

const suite = { baseUrl: "", longPollTimeoutMs: 500, subscriptions: true };
const dataDirectory = mkdtempSync(join(tmpdir(), "verbatim-conformance-"));
let server: RunningServer;

beforeAll(async () => {
  const { longPollTimeoutMs } = suite;
  server = await openServer({
    root: dataDirectory,
    port: 0,
    longPollTimeoutMs,
    allowLocalWebhooks: true,
  });
  suite.baseUrl = server.url;
});

afterAll(async () => {
  await server.close();
  rmSync(dataDirectory, { recursive: true });
});

runConformanceTests(suite);
