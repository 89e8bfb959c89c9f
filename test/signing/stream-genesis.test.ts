/** The genesis of a signed stream is durable before its first bytes are acknowledged. */

import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { LocalStore } from "../../src/streams/files/local-store.ts";
import {
  JSON_STREAM,
  message,
  NEVER,
  RAW_STREAM,
  SignedStreams,
} from "../support/signed-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/**
 * The verdicts on a copy of the current files, after a store that does not sign has recovered it.
 */
async function verdictsAfterKill(streams: SignedStreams): Promise<Record<string, string>> {
  const copy = join(tempDirectory(), "killed");
  cpSync(streams.directory, copy, { recursive: true });
  const recovered = await streams.open({ dataDirectory: copy, signing: undefined });
  await recovered.close();
  return streams.verdicts(copy);
}

const STEPS: readonly [string, (store: LocalStore) => Promise<unknown>, Record<string, string>][] =
  [
    ["a stream without a byte", (store) => store.create("/s", JSON_STREAM), {}],
    [
      "its first message",
      (store) => store.append("/s", message("first")),
      { "/s": "incomplete UNSIGNED_TAIL" },
    ],
    [
      "a raw stream created with bytes",
      (store) => store.create("/raw", { ...RAW_STREAM, body: Buffer.from("raw") }),
      { "/raw": "incomplete UNSIGNED_TAIL" },
    ],
    [
      "a stream made and filled in one batch",
      (store) =>
        Promise.all([
          store.create("/both", JSON_STREAM),
          store.append("/both", message(1)),
          store.append("/both", message(2)),
        ]),
      { "/both": "incomplete UNSIGNED_TAIL" },
    ],
    [
      "a fork without a byte of its own",
      (store) => store.create("/fork", { ...JSON_STREAM, fork: { source: "/s" } }),
      { "/s": "verified", "/fork": "verified" },
    ],
    [
      "the fork's first message",
      (store) => store.append("/fork", message("of the fork")),
      { "/fork": "incomplete UNSIGNED_TAIL" },
    ],
    [
      "a fork created with bytes",
      (store) =>
        store.create("/full", { ...JSON_STREAM, fork: { source: "/s" }, body: Buffer.from("[1]") }),
      { "/full": /^(?:verified|incomplete UNSIGNED_TAIL)$/.source },
    ],
    [
      "a stream deleted, made again and filled",
      async (store) => {
        await store.remove("/raw");
        await store.create("/raw", RAW_STREAM);
        await store.append("/raw", { body: Buffer.from("again"), close: false });
      },
      { "/raw": "incomplete UNSIGNED_TAIL" },
    ],
  ];

test("a server killed after any acknowledgement leaves no acknowledged byte of a signed stream unsigned", async () => {
  const streams = new SignedStreams();
  const store = await streams.open({ signingCadence: NEVER, writeBackMs: 1e9 });
  const expected: Record<string, string> = {};
  for (const [what, step, changed] of STEPS) {
    await step(store);
    Object.assign(expected, changed);
    const verdicts = await verdictsAfterKill(streams);
    assert.deepEqual(Object.keys(verdicts).sort(), Object.keys(expected).sort(), what);
    for (const [path, verdict] of Object.entries(expected)) {
      assert.match(verdicts[path] ?? "", new RegExp(verdict), `${what}: ${path}`);
    }
  }
  await store.close();
  assert.deepEqual(streams.warnings, []);
  for (const verdict of Object.values(await streams.verdicts())) assert.equal(verdict, "verified");
});

test("appends to a fork that a killed server left without a genesis wait for the genesis, in order", async () => {
  const streams = new SignedStreams();
  const first = await streams.open({ signingCadence: NEVER });
  await first.create("/s", { ...JSON_STREAM, body: Buffer.from("[0]") });
  await first.close();
  const killed = await streams.open({ signing: undefined, writeBackMs: 1e9 });
  await killed.create("/fork", { ...JSON_STREAM, fork: { source: "/s" } });
  const asKilled = join(tempDirectory(), "killed");
  cpSync(streams.directory, asKilled, { recursive: true });
  await killed.close();
  rmSync(streams.directory, { recursive: true });
  cpSync(asKilled, streams.directory, { recursive: true });
  const again = await streams.open({ signingCadence: NEVER });
  await Promise.all([1, 2, 3].map((n) => again.append("/fork", message(n))));
  assert.equal((await verdictsAfterKill(streams))["/fork"], "incomplete UNSIGNED_TAIL");
  const { bytes } = await again.read("/fork", "start", 1000);
  assert.equal(Buffer.from(bytes).toString(), "0\n1\n2\n3\n");
  await again.close();
  assert.deepEqual(await streams.verdicts(), { "/s": "verified", "/fork": "verified" });
});
