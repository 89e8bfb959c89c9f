import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { RequestRecord } from "../../server/http/request-track.ts";
import { LOG_BUFFER_BYTES_MAX, RequestLog } from "./request-log.ts";

const RECORD: RequestRecord = {
  id: "5f0c9b3a7d21e846",
  time: "2026-11-15T12:00:00.000Z",
  method: "POST",
  route: "stream",
  stream: "/chat/1",
  status: 204,
  code: null,
  ms: 1.5,
  bytesIn: 17,
  bytesOut: 187,
  token: null,
};

test("a log is readable by its owner only, and continues where it ended", async () => {
  const path = join(tempDirectory(), "requests.jsonl");
  for (const status of [201, 204]) {
    const log = await RequestLog.open(path, (cause) => assert.fail(String(cause)));
    log.write({ ...RECORD, status });
    await log.close();
  }
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { ...RECORD, status: 201 },
      { ...RECORD, status: 204 },
    ],
  );
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("lines that a slow disk does not accept are dropped at the limit, and counted", async () => {
  const written: string[] = [];
  let release: () => void = () => {};
  const slow = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString());
      if (written.length > 1) done();
      else release = done; // The disk hangs with the first line.
    },
  });
  const log = new RequestLog(slow, true);
  const lineBytes = JSON.stringify(RECORD).length + 1;
  const fits = Math.floor(LOG_BUFFER_BYTES_MAX / lineBytes) + 1;
  for (let n = 0; n < fits + 5; n++) log.write(RECORD);
  assert.ok(slow.writableLength <= LOG_BUFFER_BYTES_MAX + lineBytes);
  release();
  while (slow.writableLength > 0) await new Promise((resolve) => setImmediate(resolve));
  log.write(RECORD);
  await log.close();
  const lines = written.join("").trimEnd().split("\n");
  assert.equal(lines.length, fits + 2);
  assert.deepEqual(JSON.parse(lines.at(-2) ?? ""), { dropped: 5 });
});

test("a log that cannot be written is reported, and delays no request", async () => {
  const causes: unknown[] = [];
  const log = await RequestLog.open(tempDirectory(), (cause) => causes.push(cause));
  log.write(RECORD);
  while (causes.length === 0) await new Promise((resolve) => setImmediate(resolve));
  log.write(RECORD);
  await log.close();
  assert.equal(causes.length, 1);
});
