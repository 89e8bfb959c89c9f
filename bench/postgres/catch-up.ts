/** Catch-up: reading a long stream against a bare `COPY` of its rows that are read and dropped. */

import pg from "pg";
import type { Way } from "../measure/compare.ts";
import { measure, say } from "../measure/frame.ts";
import type { Result } from "../measure/result.ts";
import type { Amounts } from "../postgres.ts";
import { connected, newSchema, openPostgresStore } from "./built.ts";

const MIB = 1024 * 1024;
/** As long as an entry of an agent's session. */
const MESSAGE = JSON.stringify({ role: "assistant", text: "lorem ipsum ".repeat(84) });
const TOGETHER = 2000;

export async function measureCatchUp(url: string, amounts: Amounts): Promise<Result[]> {
  const name = `catch-up of ${amounts.longBytes / 1e6} MB, against COPY of the same rows`;
  say(`${name}: filling`);
  const schema = newSchema();
  await fill(url, schema, amounts.longBytes);
  const ways = [ours(url, schema)];
  const plan = { runs: amounts.rounds, slicesPerRun: 1, sliceMs: 1 };
  return measure(name, { ways, reference: copy(url, schema), plan, bounds: [{ atLeast: 0.5 }] });
}

async function fill(url: string, schema: string, bytes: number): Promise<void> {
  const store = await openPostgresStore(url, { schema });
  const contentType = "application/json";
  await store.create("/long", { body: new Uint8Array(), isClosed: false, contentType });
  const body = Buffer.from(`[${Array.from({ length: TOGETHER }, () => MESSAGE)}]`);
  for (let done = 0; done < bytes; done += body.length) {
    await store.append("/long", { body, close: false });
  }
  await store.close();
}

/** As the server reads for a client that catches up. */
function ours(url: string, schema: string): Way {
  return {
    name: "ours",
    async open() {
      const store = await openPostgresStore(url, { schema });
      return {
        async run(times) {
          for (let time = 0; time < times; time++) {
            let chunk = await store.read("/long", "start", MIB);
            while (!chunk.isAtEnd) chunk = await store.read("/long", chunk.next, MIB);
          }
        },
        close: () => store.close(),
      };
    },
  };
}

function copy(url: string, schema: string): Way {
  return {
    name: "COPY",
    async open() {
      const client = await connected(url);
      const select = `SELECT "end", time, crc, bytes FROM ${schema}.messages ORDER BY sid, "end"`;
      return {
        async run(times) {
          for (let time = 0; time < times; time++) await dropped(client, select);
        },
        close: () => client.end(),
      };
    },
  };
}

async function dropped(client: pg.Client, select: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const done = (error: Error | undefined) => (error ? reject(error) : resolve());
    const query = new pg.Query(`COPY (${select}) TO STDOUT (FORMAT binary)`, done as never);
    (query as unknown as { handleCopyData(): void }).handleCopyData = () => {};
    client.query(query);
  });
}
