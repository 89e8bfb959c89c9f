/**
 * Retries of entries that are posted, while servers are killed with -9: in files one server, which is
 * started again; in PostgreSQL two, which answer each other's retries.
 *
 * Method: waves of random requests at once, some of them with the same key; in some waves a server
 * is killed at the first answer. What has no answer is sent again. In the end the log is the list of
 * what was acknowledged, each once, at the offsets that were answered.
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { VerbatimClient } from "../../../src/doors/client.ts";
import { type Child, startChild } from "../../support/child.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../../support/postgres.ts";
import "../../support/property-seed.ts";
import { times } from "../../support/seed.ts";
import { diskDirectory, tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";

const KEYS = 12;

/** Requests that are sent at once, by their keys; whether a server is killed meanwhile. */
const WAVES = fc.array(
  fc.record({
    keys: fc.array(fc.nat(KEYS - 1), { minLength: 1, maxLength: 8 }),
    isKilled: fc.boolean(),
  }),
  { minLength: 2, maxLength: 5 },
);

interface Server {
  readonly child: Child;
  readonly url: string;
}

interface Answer {
  readonly id: string;
  readonly entries: readonly { id: string; start: number; end: number }[];
}

async function started(child: Child): Promise<Server> {
  return { child, url: (await child.line()) ?? assert.fail("the server did not start") };
}

async function inFiles() {
  const directory = diskDirectory();
  const start = () => started(startChild("test/support/serving-child.ts", directory));
  return { start, servers: [await start()] };
}

async function inPostgres() {
  const [url, schema] = [await sharedPostgres(), newSchema()];
  const program = "test/support/postgres-serving-child.ts";
  const start = () => started(startChild(program, url, schema, tempDirectory()));
  return { start, servers: [await start(), await start()] };
}

/** The answer; null without one. */
async function post(url: string, key: string, body: object): Promise<Answer | null> {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
  const sent = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(url, sent).catch(() => null);
  const text = await response?.text().catch(() => null);
  if (response === null || text === null || text === undefined) return null;
  assert.ok(response.status === 200 || response.status === 201, text);
  return JSON.parse(text) as Answer;
}

/** Of one key, always the same: one to three entries. */
function entriesOf(key: number) {
  return Array.from({ length: (key % 3) + 1 }, (_, n) => {
    return { kind: "message", role: "user", parts: [{ type: "text", text: `${key}.${n}` }] };
  });
}

describe.each([
  { name: "files", isSkipped: false, open: inFiles },
  { name: "PostgreSQL", isSkipped: lacksPostgres, open: inPostgres },
])("in $name", ({ isSkipped, open }) => {
  test.skipIf(isSkipped)("the log is what was acknowledged, whatever is killed", async () => {
    const { start, servers } = await open();
    let lives = 0;
    let kills = 0;
    const oneLife = async (waves: readonly { keys: readonly number[]; isKilled: boolean }[]) => {
      const urlOf = (attempt: number) => (servers[attempt % servers.length] as Server).url;
      const asked = { title: `session ${lives++}` };
      const created = await post(`${urlOf(0)}/v1/sessions`, `s${lives}`, asked);
      const { id = "" } = created ?? {};
      const answers = new Map<number, Answer>();
      const send = async (key: number, attempt: number) => {
        const url = `${urlOf(attempt)}/v1/sessions/${id}/entries`;
        const answer = await post(url, `e${key}`, entriesOf(key));
        if (answer === null) return false;
        assert.deepEqual(answers.get(key) ?? answer, answer); // Every answer to a key is the same.
        answers.set(key, answer);
        return true;
      };
      for (const [attempt, { keys, isKilled }] of waves.entries()) {
        const sent = keys.map((key, at) => send(key, attempt + at));
        if (isKilled) {
          await Promise.race(sent);
          const n = kills++ % servers.length;
          await servers[n]?.child.kill();
          await Promise.all(sent);
          servers[n] = await start();
        }
        const isAnswered = await Promise.all(sent);
        const lost = keys.filter((_, at) => !isAnswered[at]);
        for (const key of lost) assert.ok(await send(key, attempt), "a server that runs answers");
      }
      const { sessions } = new VerbatimClient({ url: urlOf(0) });
      const ends = [...answers.values()].flatMap((answer) => answer.entries.map(({ end }) => end));
      const hasAll = async () => {
        const head = await sessions.get(id).catch(() => null); // The server may just have started.
        return head?.end === Math.max(...ends);
      };
      await until(hasAll, "the server has copied what others took");
      const { entries } = await sessions.entries(id, { from: 0 });
      const lines = entries.slice(1).map(({ start, end, entry }) => {
        return { line: { id: entry?.native?.id, start, end }, parts: entry?.parts };
      });
      const acknowledged = [...answers].flatMap(([key, answer]) => {
        const sent = entriesOf(key);
        return answer.entries.map((line, n) => ({ line, parts: sent[n]?.parts }));
      });
      acknowledged.sort((a, b) => a.line.start - b.line.start);
      assert.deepEqual(lines, acknowledged);
    };
    await fc.assert(fc.asyncProperty(WAVES, oneLife), { numRuns: 3 * times, endOnFailure: true });
    assert.ok(kills > 0);
  });
});
