/**
 * A local store whose disk is full, or that has no descriptor left: reads go on, and writes come back
 * without a restart once the cause has passed. A store that failed for another reason stays failed.
 */

import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import {
  openReopeningStore,
  type ReopeningStore,
} from "../../src/streams/files/reopening-store.ts";
import { ManualTime } from "../support/manual-time.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { type FileCall, WatchedFiles } from "../support/watched-files.ts";
import { diskTest, SmallDisk } from "./small-disk.ts";

const LOG = /\.bin$/;
const SEGMENT = /\.j$/;

/** What fails, until the test ends it. */
const FAULTS: readonly (readonly [string, (call: FileCall) => boolean])[] = [
  ["a log file does not grow", ({ call, name }) => call === "write" && LOG.test(name)],
  ["a sync of the journal fails", ({ call, name }) => call === "sync" && SEGMENT.test(name)],
];

test.each(FAULTS)("%s: reads go on, and writes continue when that is over", async (_, fits) => {
  const { store, files, time } = await openWatched();
  await append(store, "/a", "1");
  let isBroken = true;
  let probes = 0;
  files.before = (call) => {
    if (call.name === "space.probe" && call.call === "write") probes++;
    const isProbe = call.name === "space.probe" && call.call !== "remove";
    if (isBroken && (fits(call) || isProbe)) throw fault("ENOSPC");
    return undefined;
  };
  await refusal(append(store, "/b", "2"), "STORE_FAILED");
  assert.equal(store.health().isWritable, false);
  assert.ok("isPassing" in store.health());
  await refusal(append(store, "/a", "3"), "STORE_FAILED");
  assert.equal(await text(store, "/a"), "1");
  const syncs = () => files.calls.filter(({ call, name }) => call === "sync" && SEGMENT.test(name));
  const syncsBefore = syncs().length;
  time.pass(1000);
  await until(() => files.made("open", "space.probe").length > 0, "a look at the disk");
  assert.equal(store.health().isWritable, false);
  assert.equal(await text(store, "/a"), "1");
  assert.equal(syncs().length, syncsBefore, "nothing was synced again");
  isBroken = false;
  await untilWritable(store, time);
  await append(store, "/a", "3");
  assert.equal(await text(store, "/a"), "13");
  assert.ok(["", "2"].includes(await text(store, "/b")));
  assert.ok(probes > 0);
});

test("a live reader gets what recovery applied, and what is appended afterwards", async () => {
  const { store, files, time } = await openWatched();
  const ends: (string | undefined)[] = [];
  store.watch("/b", (head) => ends.push(head?.end));
  let isBroken = true;
  files.before = ({ call, name }) => {
    const isFull = isBroken && call === "write" && (LOG.test(name) || name === "space.probe");
    if (isFull) throw fault("ENOSPC");
    return undefined;
  };
  await refusal(append(store, "/b", "2"), "STORE_FAILED");
  assert.deepEqual(ends, []);
  isBroken = false;
  await untilWritable(store, time);
  assert.match(ends.at(-1) ?? "", /_0*1$/);
  assert.equal(await text(store, "/b"), "2"); // The journal had it.
  await append(store, "/b", "3");
  assert.match(ends.at(-1) ?? "", /_0*2$/);
});

test("without a descriptor for the journal writes stop, and continue when there is one", async () => {
  const { store, files, time } = await openWatched({ writeBackBytes: 1 });
  await append(store, "/a", "1");
  let isBroken = true;
  files.before = ({ call, name }) => {
    const isOpen = call === "open" && (SEGMENT.test(name) || name === "space.probe");
    if (isBroken && isOpen) throw fault("EMFILE");
    return undefined;
  };
  const hasFailed = async () => {
    await append(store, "/b", "x").catch(() => {});
    return !store.health().isWritable;
  };
  await until(hasFailed, "the failure");
  assert.equal(await text(store, "/a"), "1");
  isBroken = false;
  await untilWritable(store, time);
  await append(store, "/a", "2");
  assert.equal(await text(store, "/a"), "12");
});

test("a store whose disk reports an error stays read-only until a person has looked", async () => {
  const { store, files, time } = await openWatched();
  await append(store, "/a", "1");
  files.before = ({ call, name }) => {
    if (call !== "sync" || !SEGMENT.test(name)) return undefined;
    throw fault("EIO");
  };
  await refusal(append(store, "/a", "2"), "STORE_FAILED");
  files.before = () => undefined;
  time.pass(5000);
  await refusal(append(store, "/a", "3"), "STORE_FAILED");
  assert.equal(files.made("open", "space.probe").length, 0);
  assert.equal("isPassing" in store.health(), false); // A restart may help.
  assert.equal(await text(store, "/a"), "1");
});

diskTest("on a disk that is really full, reads go on and appends come back", async () => {
  const disk = SmallDisk.mount();
  const time = new ManualTime();
  const store = await openReopeningStore({ dataDirectory: disk.path, time });
  onTestFinished(() => store.close());
  await create(store, "/a");
  let acknowledged = "";
  for (let round = 0; round < 3; round++) {
    disk.fill(30_000);
    const untilFailed = async () => {
      for (let n = 0; store.health().isWritable; n++) {
        const body = `${round}.${n} `.padEnd(1 + ((n * 677) % 3000), "x");
        await append(store, "/a", body);
        acknowledged += body;
      }
    };
    await until(async () => {
      await untilFailed().catch(() => {});
      return !store.health().isWritable;
    }, "the failure of the store");
    disk.fill(); // So that the index cannot grow either.
    assert.ok((await text(store, "/a")) === acknowledged, "what was acknowledged can be read");
    assert.ok((await messages(store, "/a")) === acknowledged, "and so can each message");
    time.pass(1000);
    assert.equal(store.health().isWritable, false);
    assert.ok((await messages(store, "/a")) === acknowledged);
    disk.empty();
    await untilWritable(store, time);
    const after = await text(store, "/a");
    assert.ok(after.startsWith(acknowledged), "nothing acknowledged was lost");
    acknowledged = after;
  }
});

function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

async function untilWritable(store: ReopeningStore, time: ManualTime): Promise<void> {
  const isWritable = () => {
    time.pass(1000);
    return store.health().isWritable;
  };
  await until(isWritable, "writing again");
}

async function openWatched(choices: { writeBackBytes?: number } = {}) {
  const files = new WatchedFiles();
  const time = new ManualTime();
  const dataDirectory = tempDirectory();
  const store = await openReopeningStore({ dataDirectory, host: files.host, time, ...choices });
  onTestFinished(() => {
    files.before = () => undefined;
    return store.close();
  });
  for (const path of ["/a", "/b"]) await create(store, path);
  return { store, files, time };
}

async function create(store: ReopeningStore, path: string): Promise<void> {
  const body = new Uint8Array();
  await store.create(path, { body, contentType: "text/plain", isClosed: false });
}

function append(store: ReopeningStore, path: string, body: string) {
  return store.append(path, { body: Buffer.from(body), close: false });
}

async function text(store: ReopeningStore, path: string): Promise<string> {
  const { bytes } = await store.read(path, "start", 10_000_000);
  return Buffer.from(bytes).toString();
}

/** The same, message by message, each looked up in the index. */
async function messages(store: ReopeningStore, path: string): Promise<string> {
  let all = "";
  for await (const { data } of store.messages(path, "start")) all += Buffer.from(data).toString();
  return all;
}
