import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import type { Admission } from "../../../src/server/auth/gate.ts";
import { ListedClaims, StoredLimits } from "../../../src/server/auth/stored-limits.ts";
import { openLocalStore } from "../../../src/streams/files/local-store.ts";
import type { StreamStore } from "../../../src/streams/files/stream-store.ts";
import { ManualTime } from "../../support/manual-time.ts";
import { refusal } from "../../support/refusal.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

const LIMITS = { storedBytes: 10 };

test("bytes that are stored while others are counted are not passed over", async () => {
  const store = await openLocalStore({ dataDirectory: tempDirectory(), host: nodeHost });
  onTestFinished(() => store.close());
  await store.create("/a", { body: new Uint8Array(), isClosed: false, contentType: "text/plain" });
  let release = () => {};
  let isHeld: (() => void) | null = null;
  const listed: StreamStore = Object.create(store, {
    list: {
      value: async (asked: Parameters<StreamStore["list"]>[0]) => {
        const heads = await store.list(asked);
        if (isHeld === null) return heads;
        isHeld();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return heads;
      },
    },
  });
  const time = new ManualTime();
  const limits = new StoredLimits(new ListedClaims(listed, time), time);
  const entry = { id: "0000000a", paths: ["**"] };
  const pass = { token: entry.id, limits: LIMITS, entry } as unknown as Admission;
  const want = { streams: 0, bytes: 6 };
  const append = () => store.append("/a", { body: Buffer.from("123456"), close: false });
  let begin = () => {};
  const isGranted = new Promise<void>((granted) => {
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    void limits.write(pass, want, async () => {
      granted();
      await begun;
      const result = await append();
      stored();
      return result;
    });
  });
  let stored = () => {};
  const isStored = new Promise<void>((resolve) => {
    stored = resolve;
  });
  await isGranted;
  time.pass(1000); // The next write counts again.
  const isCounting = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const second = refusal(limits.write(pass, want, append), "LIMIT_REACHED");
  await isCounting;
  begin();
  await isStored;
  await new Promise(setImmediate);
  release();
  await second;
  assert.equal((await store.head("/a")).end.endsWith("06"), true);
});
