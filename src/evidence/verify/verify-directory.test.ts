/** Verdicts on data directories: no altered byte verifies, and there is always a report. */

import assert from "node:assert/strict";
import {
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { isTried, runs } from "../../../test/support/seed.ts";
import {
  JSON_STREAM,
  message,
  RAW_STREAM,
  SignedStreams,
} from "../../../test/support/signed-streams.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";

const FILES = { "/s": "s.jsonl", "/raw": "raw.bin" } as const;

/** Two streams of two checkpoints each. */
async function written(): Promise<SignedStreams> {
  const streams = new SignedStreams();
  for (const round of [1, 2]) {
    const store = await streams.open();
    if (round === 1) await store.create("/s", JSON_STREAM);
    if (round === 1) await store.create("/raw", RAW_STREAM);
    await store.append("/s", message({ round, tab: "\t" }));
    await store.append("/raw", { body: Buffer.from([0, 10, round]), close: false });
    await store.close();
  }
  return streams;
}

const CHANGES = ["flipped", "doubled", "deleted"] as const;

/** The bytes with this one changed; the same where there is no such byte. */
function changed(bytes: Buffer, at: number, change: (typeof CHANGES)[number]): Buffer {
  if (at >= bytes.length) return bytes;
  const byte = bytes[at] ?? 0;
  const now = { flipped: [byte ^ 1], doubled: [byte, byte], deleted: [] }[change];
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(now), bytes.subarray(at + 1)]);
}

test("no flipped, duplicated or deleted byte of a stream or its checkpoints verifies", async () => {
  const streams = await written();
  // Both streams at once: each has its own verdict.
  for (const suffix of ["", ".checkpoints"]) {
    const files = Object.entries(FILES).map(([path, file]) => {
      const full = join(streams.directory, "logs", `${file}${suffix}`);
      return { path, full, original: readFileSync(full) };
    });
    const length = Math.max(...files.map(({ original }) => original.length));
    // Every seventh byte of the long checkpoint lines is enough to hit each field.
    const step = length > 500 ? 7 : 1;
    for (let at = 0; at < length; at += step) {
      for (const [nth, change] of CHANGES.entries()) {
        if (!isTried(at + nth, 3 * CHANGES.length)) continue;
        for (const { full, original } of files) writeFileSync(full, changed(original, at, change));
        const verdicts = await streams.verdicts();
        for (const { path, full, original } of files) {
          const verdict = verdicts[path] ?? "";
          // A second LF at the very end is an unsigned line.
          const isLast = at === original.length - 1;
          const expected = isLast
            ? /^(?:tampered|rollback|incomplete)/
            : /^(?:tampered|rollback|unreadable NEWER_FORMAT)/;
          if (at >= original.length) assert.equal(verdict, "verified");
          else assert.match(verdict, expected, `${full} at ${at}: ${verdict}`);
        }
      }
    }
    for (const { full, original } of files) writeFileSync(full, original);
  }
  assert.deepEqual(await streams.verdicts(), { "/raw": "verified", "/s": "verified" });
});

test("checkpoints cut at any byte, or deleted, are a rollback if pinned, and otherwise reported as unsigned", async () => {
  const streams = await written();
  const sidecar = join(streams.directory, "logs/raw.bin.checkpoints");
  const bytes = readFileSync(sidecar);
  const first = bytes.indexOf(10) + 1;
  const verdict = async () => (await streams.verdicts())["/raw"];
  for (const end of [0, 1, first - 1, first, first + 1, bytes.length - 1]) {
    writeFileSync(sidecar, bytes.subarray(0, end));
    const code = end < first ? "CHECKPOINTS_STRIPPED" : "BEHIND";
    assert.equal(await verdict(), `rollback ${code}`, `cut at ${end}`);
  }
  rmSync(sidecar);
  assert.equal(await verdict(), "rollback CHECKPOINTS_STRIPPED");
  const { heads } = streams.user;
  await heads.forget({ place: `streams:${streams.directory}`, id: "/raw" });
  assert.equal(await verdict(), "unsigned UNSIGNED");
  writeFileSync(sidecar, bytes.subarray(0, first));
  assert.equal(await verdict(), "incomplete UNSIGNED_TAIL");
  assert.equal((await streams.reports()).get("/raw")?.tail.bytes, 6);
});

test("a signed stream that is missing, from its file or from meta.jsonl, is a rollback", async () => {
  const streams = await written();
  rmSync(join(streams.directory, "logs/s.jsonl"));
  assert.equal((await streams.verdicts())["/s"], "rollback BEHIND");
  truncateSync(join(streams.directory, "logs/raw.bin"), 3);
  assert.equal((await streams.verdicts())["/raw"], "rollback LOG_SHORTER_THAN_SIDECAR");
  const empty = new SignedStreams(); // A new store in place of the old one.
  await (await empty.open()).close();
  const [meta, other] = [streams, empty].map(({ directory }) => join(directory, "meta.jsonl"));
  writeFileSync(meta ?? "", readFileSync(other ?? ""));
  for (const name of readdirSync(join(streams.directory, "journal"))) {
    rmSync(join(streams.directory, "journal", name));
  }
  const verdicts = await streams.verdicts();
  assert.match(verdicts["/s"] ?? "", /^rollback/);
  assert.match(verdicts["/raw"] ?? "", /^(?:rollback|tampered)/);
});

test("signed streams are a rollback when meta.jsonl, the logs or the whole directory is missing", async () => {
  const gone = { "/raw": "rollback BEHIND", "/s": "rollback BEHIND" };
  for (const names of [["meta.jsonl"], ["meta.jsonl", "journal", "logs"], ["logs"], [""]]) {
    const streams = await written();
    for (const name of names) rmSync(join(streams.directory, name), { recursive: true });
    assert.deepEqual(await streams.verdicts(), gone, `without ${names}`);
  }
  const streams = await written();
  truncateSync(join(streams.directory, "meta.jsonl"));
  assert.deepEqual(await streams.verdicts(), gone, "with an empty meta.jsonl");
  for (const id of Object.keys(gone)) {
    await streams.user.heads.forget({ place: `streams:${streams.directory}`, id });
  }
  assert.deepEqual(await streams.verdicts(), { "": "unreadable UNREADABLE" });
});

test("files that meta.jsonl does not name are not streams, even if they are signed", async () => {
  const streams = await written();
  rmSync(join(streams.directory, "meta.jsonl"));
  rmSync(join(streams.directory, "journal"), { recursive: true });
  await (await streams.open()).close(); // Starts a new store there.
  assert.ok(streams.files().includes("s.jsonl"));
  const verdicts = await streams.verdicts();
  assert.deepEqual(verdicts, { "/raw": "rollback BEHIND", "/s": "rollback BEHIND" });
});

test("a deleted directory that was reached through a link is reported missing by its real path", async () => {
  const streams = new SignedStreams(join(tempDirectory(), "data"));
  const store = await streams.open();
  await store.create("/s", JSON_STREAM);
  await store.append("/s", message({ n: 1 }));
  await store.close();
  rmSync(streams.directory, { recursive: true });
  const link = join(tempDirectory(), "link");
  symlinkSync(dirname(streams.directory), link);
  assert.deepEqual(await streams.verdicts(join(link, "data")), { "/s": "rollback BEHIND" });
});

test("whatever the files of a directory contain, there is a report", async () => {
  const streams = await written();
  const names = readdirSync(streams.directory, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => /\.(?:jsonl|bin|checkpoints|j)$/.test(name));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.uint8Array({ maxLength: 80 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      async (name, bytes, share, isCut) => {
        const path = join(streams.directory, name);
        const original = readFileSync(path);
        const at = Math.floor(share * original.length);
        const rest = isCut ? Buffer.alloc(0) : original.subarray(at + bytes.length);
        writeFileSync(path, Buffer.concat([original.subarray(0, at), bytes, rest]));
        try {
          assert.ok((await streams.reports()).size > 0);
        } finally {
          writeFileSync(path, original);
        }
      },
    ),
    { numRuns: runs(60) },
  );
  assert.deepEqual(await streams.verdicts(tempDirectory()), { "": "unreadable UNREADABLE" });
});
