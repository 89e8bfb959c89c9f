/**
 * Four clients over two servers append, close, fork and read at random. What they were answered is
 * what one stream in one place could have answered, in an order that agrees with real time.
 */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { describe, test } from "vitest";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import {
  type Answer,
  type Input,
  isLinearizable,
  type Operation,
} from "../support/linearizable.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { seed, times } from "../support/seed.ts";

const CLIENTS = 4;
const STREAMS = 2;
const OPERATIONS = 16;

describe("the checker", () => {
  const append = (begin: number, end: number, text: string, length: number): Operation => ({
    begin,
    end,
    input: { kind: "append", text },
    answer: { outcome: "appended", end: length },
  });
  const read = (begin: number, end: number, text: string, isClosed = false): Operation => ({
    begin,
    end,
    input: { kind: "read" },
    answer: { text, isClosed },
  });
  const close = (begin: number, end: number, outcome: string, length: number): Operation => ({
    begin,
    end,
    input: { kind: "close" },
    answer: { outcome, end: length },
  });
  const turn = (begin: number, end: number, seq: number, outcome: string): Operation => ({
    begin,
    end,
    input: { kind: "append", text: "x", producer: { id: "p", seq } },
    answer: { outcome, end: 1 },
  });

  test("accepts histories that one stream could have answered", () => {
    assert.ok(isLinearizable([]));
    assert.ok(isLinearizable([append(1, 4, "a", 2), append(2, 3, "b", 1), read(5, 6, "ba")]));
    assert.ok(isLinearizable([append(1, 6, "a", 1), read(2, 3, ""), read(4, 5, "a")]));
    assert.ok(isLinearizable([turn(1, 4, 0, "appended"), turn(2, 3, 0, "duplicate")]));
    assert.ok(isLinearizable([close(1, 4, "duplicate", 0), close(2, 3, "appended", 0)]));
  });

  const REFUSED: Readonly<Record<string, readonly Operation[]>> = {
    "a read that misses an earlier append": [append(1, 2, "a", 1), read(3, 4, "")],
    "a read that goes back": [append(1, 8, "a", 1), read(2, 3, "a"), read(4, 5, "")],
    "two appends at the same place": [append(1, 3, "a", 1), append(2, 4, "b", 1)],
    "an append that is read twice": [append(1, 2, "a", 1), read(3, 4, "aa")],
    "another order than that of the answers": [
      append(1, 2, "a", 1),
      append(3, 4, "b", 2),
      read(5, 6, "ba"),
    ],
    "an append after the stream was closed": [close(1, 2, "appended", 0), append(3, 4, "a", 1)],
    "a stream that is open again": [close(1, 2, "appended", 0), read(3, 4, "")],
    "a turn that was accepted twice": [turn(1, 3, 0, "appended"), turn(2, 4, 0, "appended")],
    "a duplicate of nothing": [turn(1, 2, 0, "duplicate")],
    "a turn after a missing one": [turn(1, 2, 1, "appended")],
    "a fork with more than its source": [
      { begin: 1, end: 2, input: { kind: "fork" }, answer: { text: "a", isClosed: null } },
    ],
  };
  for (const [name, history] of Object.entries(REFUSED)) {
    test(`refuses ${name}`, () => assert.equal(isLinearizable(history), false));
  }
});

describe.skipIf(lacksPostgres)("with a database", () => {
  test(`random histories of two servers are linearizable (seed ${seed})`, async () => {
    const url = await sharedPostgres();
    for (let round = 0; round < 3 * times; round++) {
      const random = randomNumbers(seed + round);
      const options = { schema: newSchema(), durability: "memory" } as const;
      const stores = [await openPostgresStore(url, options), await openPostgresStore(url, options)];
      const histories = await played(stores, random);
      for (const store of stores) await store.close();
      for (const history of histories) {
        assert.ok(history.length > OPERATIONS / 2);
        assert.ok(isLinearizable(history), `round ${round}: ${JSON.stringify(history)}`);
      }
    }
  });
});

async function played(
  stores: readonly StreamStore[],
  random: (below: number) => number,
): Promise<Operation[][]> {
  const histories: Operation[][] = Array.from({ length: STREAMS }, () => []);
  const body = new Uint8Array();
  for (let n = 0; n < STREAMS; n++) {
    await stores[0]?.create(`/${n}`, { body, contentType: "text/plain", isClosed: false });
  }
  let clock = 0;
  let forks = 0;
  const client = async (id: number) => {
    for (let k = 0; k < OPERATIONS; k++) {
      const stream = random(STREAMS);
      const store = stores[random(stores.length)] as StreamStore;
      const input = newInput(random, `${id}${k.toString(36)} `, k);
      for (let turns = random(200); turns > 0; turns--) await setImmediate();
      const begin = clock++;
      const fork = input.kind === "fork" ? `/fork${forks++}` : null;
      let answer = await performed(store, `/${stream}`, input, fork);
      const end = clock++;
      // A fork does not change after its creation: it may be read later.
      if (fork !== null) answer = { ...(await readOf(store, fork)), isClosed: null };
      histories[stream]?.push({ begin, end, input, answer });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, id) => client(id)));
  return histories;
}

/** Producers and Stream-Seq are shared by all clients, so that they compete. */
function newInput(random: (below: number) => number, text: string, k: number): Input {
  const which = random(20);
  if (which === 0 && k > OPERATIONS / 2) return { kind: "close" };
  if (which < 6) return { kind: "read" };
  if (which < 8) return { kind: "fork" };
  if (which < 11) return { kind: "append", text };
  if (which < 14) return { kind: "append", text, streamSeq: String(k).padStart(4, "0") };
  return { kind: "append", text, producer: { id: `p${random(2)}`, seq: random(k >> 2) } };
}

async function performed(
  store: StreamStore,
  path: string,
  input: Input,
  fork: string | null,
): Promise<Answer> {
  const body = new Uint8Array();
  if (fork !== null) {
    await store.create(fork, { body, isClosed: false, fork: { source: path } });
    return { text: "", isClosed: null };
  }
  if (input.kind === "read") return readOf(store, path);
  const isClosing = input.kind !== "append";
  const producer = isClosing || !input.producer ? undefined : { ...input.producer, epoch: 0 };
  const { outcome, head } = await store.append(path, {
    body: isClosing ? body : Buffer.from(input.text),
    producer,
    streamSeq: isClosing ? undefined : input.streamSeq,
    close: isClosing,
  });
  return { outcome, end: Number(head.end.split("_")[1]) };
}

async function readOf(store: StreamStore, path: string) {
  const { bytes, head } = await store.read(path, "start", 100_000);
  return { text: Buffer.from(bytes).toString(), isClosed: head.isClosed };
}

/** Numbers that depend on the seed alone (mulberry32). */
function randomNumbers(from: number): (below: number) => number {
  let state = from;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * Math.max(1, below));
  };
}
