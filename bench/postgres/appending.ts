/**
 * Appending: groups of appends against a bare loop that inserts the same rows, in batches of the same
 * size, with one statement each, into a table like `messages`. The loop keeps no stream states,
 * checks nothing and numbers the messages itself.
 */

import type pg from "pg";
import type { Way } from "../measure/compare.ts";
import { measure } from "../measure/frame.ts";
import type { Result } from "../measure/result.ts";
import type { Amounts } from "../postgres.ts";
import { connected, newSchema, openPostgresStore } from "./built.ts";

const BATCH = 128;
const BODY = Buffer.from(`{"role":"assistant","text":"${"lorem ipsum ".repeat(14)}"}\n`);

export async function measureAppending(url: string, amounts: Amounts): Promise<Result[]> {
  const { rounds: runs, slices: slicesPerRun, sliceMs } = amounts;
  const plan = { runs, slicesPerRun, sliceMs };
  const results: Result[] = [];
  for (const streams of [1, 16, BATCH]) {
    const name = `batches of ${BATCH} appends to ${streams} streams, against bare inserts`;
    const ways = [ours(url, streams)];
    const reference = bare(url, streams);
    const bounds = [{ atLeast: 0.6 }];
    results.push(...(await measure(name, { ways, reference, plan, bounds })));
  }
  return results;
}

function ours(url: string, streams: number): Way {
  return {
    name: "ours",
    async open() {
      const store = await openPostgresStore(url, { schema: newSchema() });
      const empty = { body: new Uint8Array(), isClosed: false, contentType: "text/plain" };
      for (let n = 0; n < streams; n++) await store.create(`/s${n}`, empty);
      const request = { body: BODY, close: false };
      return {
        async run(batches) {
          for (let batch = 0; batch < batches; batch++) {
            const appends = Array.from({ length: BATCH }, (_, n) =>
              store.append(`/s${n % streams}`, request),
            );
            await Promise.all(appends);
          }
        },
        close: () => store.close(),
      };
    },
  };
}

function bare(url: string, streams: number): Way {
  return {
    name: "bare inserts",
    async open() {
      const client = await connected(url);
      const schema = newSchema();
      await client.query(`CREATE SCHEMA ${schema}`);
      await client.query(
        `CREATE TABLE ${schema}.messages (sid bigint NOT NULL, "end" bigint NOT NULL,
           time bigint NOT NULL, crc integer NOT NULL, bytes bytea NOT NULL,
           PRIMARY KEY (sid, "end"));
         ALTER TABLE ${schema}.messages ALTER COLUMN bytes SET STORAGE EXTERNAL`,
      );
      const ends = Array.from({ length: streams }, () => 0);
      const text = `INSERT INTO ${schema}.messages
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::bytea[])`;
      return {
        async run(batches) {
          for (let batch = 0; batch < batches; batch++) await insert(client, text, ends);
        },
        close: () => client.end(),
      };
    },
  };
}

/** All of one batch, as rows of arrays: the fastest of the ways that were tried. */
async function insert(client: pg.Client, text: string, ends: number[]): Promise<void> {
  const columns: [number[], number[], number[], number[], Buffer[]] = [[], [], [], [], []];
  for (let n = 0; n < BATCH; n++) {
    const sid = n % ends.length;
    const end = (ends[sid] ?? 0) + BODY.length;
    ends[sid] = end;
    for (const [at, value] of [sid, end, Date.now(), 0].entries()) {
      (columns[at] as number[]).push(value);
    }
    columns[4].push(BODY);
  }
  await client.query({ name: "insert", text, values: columns });
}
