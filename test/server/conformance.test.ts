/** The whole public suite of the Durable Streams protocol, against a server on the real disk. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runConformanceTests } from "@durable-streams/server-conformance-tests";
import { afterAll, beforeAll } from "vitest";
import { type RunningServer, startServer } from "../../src/server/serve.ts";
import { patientTime } from "./patient-time.ts";

/** Of the suite, whose tests of long-polls may last a second longer; our server answers sooner. */
const suite = { baseUrl: "", longPollTimeoutMs: 59_000, subscriptions: true };
const time = patientTime();
const dataDirectory = mkdtempSync(join(tmpdir(), "verbatim-conformance-"));
let server: RunningServer;

beforeAll(async () => {
  const options = { dataDirectory, port: 0, longPollTimeoutMs: 500, allowLocalWebhooks: true };
  server = await startServer({ ...options, time });
  suite.baseUrl = server.url;
});

afterAll(async () => {
  await server.close();
  rmSync(dataDirectory, { recursive: true });
});

runConformanceTests(suite);
