/**
 * One of two servers is killed with -9 under load. Producers continue with the other one, and
 * repeat what was not answered: nothing acknowledged is lost, nothing is stored twice.
 */

import assert from "node:assert/strict";
import { describe, onTestFinished, test } from "vitest";
import type { AppendRequest } from "../../src/streams/files/stream-store.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { type Child, startChild } from "../support/child.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { Producers } from "../support/producers.ts";
import { times } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";

interface Server {
  readonly child: Child;
  readonly url: string;
}

describe.skipIf(lacksPostgres)("with a database", () => {
  test("when a server is killed, its producers continue with another one", async () => {
    const url = await sharedPostgres();
    const schema = newSchema();
    const start = async (): Promise<Server> => {
      const child = startChild(
        "test/support/postgres-serving-child.ts",
        url,
        schema,
        tempDirectory(),
      );
      return { child, url: (await child.line()) ?? "" };
    };
    const servers: [Server, Server] = [await start(), await start()];
    const headers = { "Content-Type": "application/json" };
    await fetch(`${servers[0].url}/v1/stream/s`, { method: "PUT", headers });
    /** Attempts change the server. */
    let attempts = 0;
    const producers = Producers.begin(32, async (n, request) => {
      const server = servers[(n + attempts) % 2] as Server;
      const isDone = await posted(server.url, request);
      if (!isDone) attempts++;
      return isDone;
    });
    for (let round = 0; round < times; round++) {
      await producers.haveAdvanced();
      const n = round % 2;
      await servers[n]?.child.kill();
      await producers.haveAdvanced();
      servers[n] = await start();
    }
    const store = await openPostgresStore(url, { schema, durability: "memory" });
    onTestFinished(() => store.close());
    await producers.check(store);
  });
});

async function posted(url: string, { body, producer }: AppendRequest): Promise<boolean> {
  const headers = {
    "Content-Type": "application/json",
    "Producer-Id": producer?.id ?? "",
    "Producer-Epoch": String(producer?.epoch),
    "Producer-Seq": String(producer?.seq),
  };
  const options = { method: "POST", headers, body: String(body) };
  const answer = await fetch(`${url}/v1/stream/s`, options).catch(() => null);
  if (answer === null || answer.status === 503) return false;
  assert.ok(answer.ok, `${answer.status}`);
  return true;
}
