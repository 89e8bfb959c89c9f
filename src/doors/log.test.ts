/** The entry point as users see it: its example, and the shortest calls. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "vitest";
import { newLogPath } from "../../test/support/open-log.ts";
import { valuesOf } from "../../test/support/read-log.ts";
import { refusal } from "../../test/support/refusal.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { encodeLine, LogFile, openLog, readLog } from "./log.ts";

test("what is appended through the door is read through it", async () => {
  const path = newLogPath();
  const log = await openLog(path);
  const end = await log.append(encodeLine({ role: "user", content: "hello" }));
  await log.append(encodeLine({ role: "assistant", content: "hi" }));
  await log.close();

  const lines = readLog(path);
  assert.deepEqual(await valuesOf(lines), [
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
  ]);
  assert.deepEqual(await valuesOf(lines.forward({ from: end })), [
    { role: "assistant", content: "hi" },
  ]);
  const [last] = await lines.last(1);
  assert.equal(last?.start, end);
});

test("a hostile id is refused at every way in, and nothing is made", async () => {
  const root = tempDirectory();
  for (const id of ["..", "../x.jsonl", "/etc/x.jsonl", "a\\b.jsonl", "a\0.jsonl", ""]) {
    await refusal(openLog(id, { root }), "BAD_ID");
    await refusal(LogFile.open(id, { root }), "BAD_ID");
    await refusal(readLog(id, { root }).last(1), "BAD_ID");
  }
  assert.deepEqual(readdirSync(root), []);
});
