/**
 * A real server, really killed. 32 producers append over their own connections and number their
 * messages; the server is killed with -9 after a random number of answers and started again, and they
 * repeat requests without an answer. In the end every message is in its stream once, in order.
 */

import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { test } from "vitest";
import { startChild } from "../support/child.ts";
import { seed, times } from "../support/seed.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import { unit } from "./lines.ts";

const ROUNDS = 4 * times;
const PRODUCERS = 32;
const STREAMS = 4;
/** Of a round, before the server is killed. */
const ANSWERS_MAX = 500;
const JSON_TYPE = "application/json";

const PROGRAM = "test/support/serving-child.ts";

/** A producer: the next number it sends is the first that was not answered. */
class Producer {
  readonly id: number;
  readonly path: string;
  /** All below were acknowledged. */
  next = 0;
  lastOffset = "";
  retries = 0;
  /** It was sent in an earlier round, and may have arrived or not. */
  #isRetry = false;

  constructor(id: number) {
    this.id = id;
    this.path = `/s${id % STREAMS}`;
  }

  /** Appends until the server is killed. */
  async run(url: string, agent: Agent, onAnswer: () => void): Promise<void> {
    for (;;) {
      const answer = await this.#send(url, agent).catch(() => null);
      if (answer === null) {
        this.#isRetry = true;
        return;
      }
      // 200: accepted; 204: a duplicate, which only a retry can be.
      assert.ok(answer.status === 200 || (answer.status === 204 && this.#isRetry), String(answer));
      if (answer.status === 204) this.retries++;
      assert.ok(answer.offset > this.lastOffset || answer.status === 204, "offsets grow");
      this.lastOffset = answer.offset;
      this.#isRetry = false;
      this.next++;
      onAnswer();
    }
  }

  #send(url: string, agent: Agent): Promise<{ status: number; offset: string }> {
    const headers = {
      "Content-Type": JSON_TYPE,
      "Producer-Id": `p${this.id}`,
      "Producer-Epoch": "0",
      "Producer-Seq": String(this.next),
    };
    return new Promise((resolve, reject) => {
      const target = `${url}/v1/stream${this.path}`;
      const asked = request(target, { method: "POST", agent, headers }, (response) => {
        response.on("error", reject);
        response.resume().on("end", () => {
          const offset = String(response.headers["stream-next-offset"]);
          resolve({ status: response.statusCode ?? 0, offset });
        });
      });
      asked.on("error", reject);
      asked.end(JSON.stringify({ p: this.id, n: this.next }));
    });
  }
}

test(
  "a server killed under 32 producers loses nothing it acknowledged, and duplicates nothing",
  async () => {
    const directory = diskDirectory();
    const producers = Array.from({ length: PRODUCERS }, (_, id) => new Producer(id));
    for (let round = 0; round < ROUNDS; round++) {
      const { url, child } = await start(directory);
      if (round === 0) await createStreams(url);
      else await endsAreWhereTheyWere(url, producers);
      const agent = new Agent({ keepAlive: true, maxSockets: PRODUCERS });
      let answersLeft = Math.ceil(ANSWERS_MAX * unit(seed, round));
      let killing: Promise<void> | null = null;
      const onAnswer = () => {
        if (--answersLeft <= 0) killing ??= child.kill();
      };
      await Promise.all(producers.map((producer) => producer.run(url, agent, onAnswer)));
      await killing;
      agent.destroy();
    }

    const { url } = await start(directory);
    const appended = await Promise.all(
      Array.from({ length: STREAMS }, (_, n) => readAll(`${url}/v1/stream/s${n}`)),
    );
    let [acknowledged, unanswered] = [0, 0];
    for (const { id, next } of producers) {
      const found = (appended[id % STREAMS] ?? []).filter(({ p }) => p === id).map(({ n }) => n);
      const message = `seed ${seed}, producer ${id}: ${next} acknowledged, ${found.length} found`;
      assert.deepEqual(
        found,
        Array.from({ length: found.length }, (_, n) => n),
        message,
      );
      assert.ok(found.length === next || found.length === next + 1, message);
      acknowledged += next;
      unanswered += found.length - next;
    }
    const retries = producers.reduce((sum, producer) => sum + producer.retries, 0);
    console.log(
      `kill -9, seed ${seed}: ${ROUNDS} deaths, ${acknowledged} appends acknowledged, ` +
        `${retries} of them recognised as sent before, ${unanswered} more kept`,
    );
  },
  180_000 * times,
);

async function start(directory: string) {
  const child = startChild(PROGRAM, directory);
  const url = (await child.line()) ?? assert.fail("the server did not start");
  return { child, url };
}

async function createStreams(url: string): Promise<void> {
  for (let n = 0; n < STREAMS; n++) {
    const headers = { "Content-Type": JSON_TYPE };
    const created = await fetch(`${url}/v1/stream/s${n}`, { method: "PUT", headers });
    assert.equal(created.status, 201);
  }
}

/** No stream ends before an offset that was returned. */
async function endsAreWhereTheyWere(url: string, producers: readonly Producer[]): Promise<void> {
  for (let n = 0; n < STREAMS; n++) {
    const head = await fetch(`${url}/v1/stream/s${n}`, { method: "HEAD" });
    const end = head.headers.get("stream-next-offset") ?? "";
    for (const { path, lastOffset } of producers) {
      if (path === `/s${n}`) assert.ok(lastOffset <= end, `${path} ends at ${end}`);
    }
  }
}

async function readAll(url: string): Promise<{ p: number; n: number }[]> {
  const messages: { p: number; n: number }[] = [];
  for (let offset = "-1"; ; ) {
    const response = await fetch(`${url}?offset=${offset}`);
    messages.push(...((await response.json()) as { p: number; n: number }[]));
    if (response.headers.get("stream-up-to-date") === "true") return messages;
    offset = response.headers.get("stream-next-offset") ?? assert.fail("no offset");
  }
}
