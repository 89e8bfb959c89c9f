/** Typed logs: every Standard Schema validator, on append and on read (S3-10). */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type } from "arktype";
import * as v from "valibot";
import { expectTypeOf, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type BadMessage,
  formatOffset,
  type JsonlEngine,
  openStreams,
  typedLog,
} from "../../src/doors/streams.ts";
import { bytesOf } from "../support/open-log.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const PATH = "/chat/session-1";

/** The same schema in three libraries. */
const SCHEMAS = {
  Valibot: v.object({ role: v.picklist(["user", "assistant"]), content: v.string() }),
  Zod: z.object({ role: z.enum(["user", "assistant"]), content: z.string() }),
  ArkType: type({ role: "'user' | 'assistant'", content: "string" }),
};

const HELLO = { role: "user", content: "hello" } as const;
const SECRET = "my password is hunter2";

for (const [name, schema] of Object.entries(SCHEMAS)) {
  test(`S3-10 ${name}: a valid value is appended and read back, and counted`, async () => {
    const engine = await opened();
    const log = typedLog(engine, PATH, schema);
    assert.equal(log.streamPath, PATH);
    assert.equal(await log.append(HELLO), formatOffset(0, 34));
    await log.append({ role: "assistant", content: "Hi é 😀\n" });
    assert.deepEqual(await log.read(), [HELLO, { role: "assistant", content: "Hi é 😀\n" }]);
    assert.deepEqual(await log.read(formatOffset(0, 34)), [
      { role: "assistant", content: "Hi é 😀\n" },
    ]);
    assert.equal(await log.count(), 2);
    const [message] = await engine.read(PATH);
    assert.equal(Buffer.from(message?.data ?? []).toString(), '{"role":"user","content":"hello"}');
  });

  test(`S3-10 ${name}: an invalid value is refused, and neither written nor quoted`, async () => {
    const log = typedLog(await opened(), PATH, schema);
    const wrong = { role: SECRET, content: SECRET } as unknown as typeof HELLO;
    const error = await refusal(log.append(wrong), "INVALID_ENTRY");
    assert.equal(error.details.field, "role");
    assert.ok(!`${error.stack}${JSON.stringify(error.details)}`.includes("hunter2"));
    const whole = await refusal(log.append(5 as unknown as typeof HELLO), "INVALID_ENTRY");
    assert.equal(whole.details.field, "(the whole)");
    assert.equal(await log.count(), 0);
  });

  test(`S3-10 ${name}: reading validates only on request, and reports what it skips`, async () => {
    const engine = await opened();
    for (const text of ['{"role":"king","content":"x"}', JSON.stringify(HELLO), "5"]) {
      await engine.append(PATH, bytesOf(text));
    }
    assert.equal((await typedLog(engine, PATH, schema).read()).length, 3);
    const bad: BadMessage[] = [];
    const onBadLine = (line: BadMessage) => bad.push(line);
    const log = typedLog(engine, PATH, schema, { validatesOnRead: true, onBadLine });
    assert.deepEqual(await log.read(), [HELLO]);
    assert.deepEqual(bad, [
      { line: 1, offset: formatOffset(0, 30), reason: "refused by the schema at role" },
      { line: 3, offset: formatOffset(0, 66), reason: "refused by the schema at (the whole)" },
    ]);
    assert.equal(await log.count(), 3);
  });
}

test("S3-10 lines that are not JSON are skipped, counted and reported in one warning", async () => {
  // A stream of another type accepts any bytes, so its lines may be anything.
  const engine = await opened("text/plain");
  for (const text of ['{"n":1}', "{", "\u00e9", '{"n":2}'])
    await engine.append(PATH, bytesOf(text));
  await engine.append(PATH, Uint8Array.of(0x22, 0xff, 0x22));
  const log = typedLog(engine, PATH, z.object({ n: z.number() }));
  const warnings: string[] = [];
  const listen = (warning: Error) => warnings.push(warning.message);
  process.on("warning", listen);
  onTestFinished(() => void process.off("warning", listen));
  assert.deepEqual(await log.read(), [{ n: 1 }, { n: 2 }]);
  await new Promise(setImmediate);
  assert.deepEqual(warnings, [
    `${PATH}: skipped 3 bad lines: 2 (not JSON), 3 (not JSON), 5 (not UTF-8)`,
  ]);
  const strict = typedLog(engine, PATH, z.object({ n: z.number() }), { onBadLine: "throw" });
  const { details } = await refusal(strict.read(), "BAD_LINE");
  assert.deepEqual(details, { path: PATH, line: 2, offset: 8, reason: "not JSON" });
});

test("S3-10 a flipped bit costs one line, wherever it is, and is reported", async () => {
  const directory = tempDirectory();
  const engine = await opened("application/json", directory);
  for (let n = 0; n < 3; n++) await engine.append(PATH, bytesOf(`{"n":${n}}`));
  const file = join(directory, "logs/chat__session-1.jsonl");
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8((bytes[at] ?? 0) ^ 1, at);
    writeFileSync(file, flipped);
    const bad: BadMessage[] = [];
    const onBadLine = (line: BadMessage) => bad.push(line);
    const log = typedLog(engine, PATH, z.object({ n: z.number() }), { onBadLine });
    const lost = Math.floor(at / 8);
    assert.deepEqual(await log.read(), [{ n: 0 }, { n: 1 }, { n: 2 }].toSpliced(lost, 1));
    const offset = formatOffset(0, 8 * (lost + 1));
    assert.deepEqual(bad, [{ line: lost + 1, offset, reason: "damaged" }]);
  }
  const strict = typedLog(engine, PATH, z.unknown(), { onBadLine: "throw" });
  assert.equal((await refusal(strict.read(), "BAD_LINE")).details.reason, "damaged");
  await refusal(engine.read(PATH), "STREAM_DAMAGED");
});

test("the schema's output is returned on read, and not stored", async () => {
  const engine = await opened();
  const schema = z.object({ n: z.coerce.number(), unit: z.string().default("K") });
  const log = typedLog(engine, PATH, schema, { validatesOnRead: true });
  await log.append({ n: "21" });
  const [message] = await engine.read(PATH);
  assert.equal(Buffer.from(message?.data ?? []).toString(), '{"n":"21"}');
  const values = await log.read();
  assert.deepEqual(values, [{ n: 21, unit: "K" }]);
  expectTypeOf(values).toEqualTypeOf<{ n: number; unit: string }[]>();
  const asStored = await typedLog(engine, PATH, schema).read();
  expectTypeOf(asStored).toEqualTypeOf<{ n: unknown; unit?: string | undefined }[]>();
});

test("the schema validates the value as JSON writes it", async () => {
  const engine = await opened();
  const dated = typedLog(engine, PATH, z.object({ at: z.date() }));
  await refusal(dated.append({ at: new Date() }), "INVALID_ENTRY");
  await typedLog(engine, PATH, z.object({ at: z.iso.datetime() })).append({
    at: new Date(0) as unknown as string,
  });
  assert.deepEqual(await typedLog(engine, PATH, z.unknown()).read(), [
    { at: "1970-01-01T00:00:00.000Z" },
  ]);
});

test("a validator may be asynchronous", async () => {
  const engine = await opened();
  const even = z.number().refine(async (n) => {
    await new Promise(setImmediate);
    return n % 2 === 0;
  });
  const log = typedLog(engine, PATH, even, { validatesOnRead: true, onBadLine: () => {} });
  await log.append(2);
  await refusal(log.append(3), "INVALID_ENTRY");
  await engine.append(PATH, bytesOf("5"));
  const read: number[] = [];
  for await (const value of log.readStream()) read.push(value);
  assert.deepEqual(read, [2]);
});

async function opened(
  contentType = "application/json",
  directory = tempDirectory(),
): Promise<JsonlEngine> {
  const engine = await openStreams({ root: directory });
  onTestFinished(() => engine.close());
  await engine.createStream(PATH, { contentType });
  return engine;
}
