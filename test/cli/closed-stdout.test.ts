/** Commands that report by their exit code: the code is the same if stdout is closed early. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { WHOLE_THREAD, writeThread } from "../support/examining.ts";
import { JSON_STREAM, message } from "../support/signed-streams.ts";
import { asLines, CliUser } from "./cli.ts";

test.each([[[]], [["--json"]]])(
  "with stdout closed, verify %s exits with the code of an altered session",
  async (flags) => {
    const user = new CliUser();
    for (const id of ["a-1", "b-1"]) {
      const args = ["record", "--dialect", "rye", "--directive", "d", "--sign", "--session", id];
      const input = asLines({ type: "user_message", text: "as it was" });
      assert.equal((await user.run(args, { input })).code, 0);
    }
    assert.deepEqual(await user.runWithClosedStdout(["verify", ...flags]), { code: 0, stderr: "" });

    const path = join(user.cwd, ".ai/threads/b-1/transcript.jsonl");
    writeFileSync(path, readFileSync(path, "utf8").replace("as it was", "as it is."));
    assert.deepEqual(await user.runWithClosedStdout(["verify", ...flags]), { code: 1, stderr: "" });
    assert.deepEqual(await user.runWithClosedStdout(["verify", "b-1", ...flags]), {
      code: 1,
      stderr: "",
    });
  },
);

test("with stdout closed, doctor exits with the code of its findings, and repair with that of what it left", async () => {
  const user = new CliUser();
  const path = await writeThread(user.cwd, "hello-1", WHOLE_THREAD);
  appendFileSync(path, "no json\n");
  const second = await writeThread(user.cwd, "hello-2", WHOLE_THREAD);
  const whole = readFileSync(second);
  appendFileSync(second, '{"torn');
  assert.deepEqual(await user.runWithClosedStdout(["doctor"]), { code: 1, stderr: "" });
  assert.deepEqual(await user.runWithClosedStdout(["doctor", "--fix"]), { code: 1, stderr: "" });
  assert.deepEqual(readFileSync(second), whole);
  assert.deepEqual(await user.runWithClosedStdout(["doctor", "hello-2"]), { code: 0, stderr: "" });
});

test("with stdout closed, serve --check exits with the code of damage", async () => {
  const user = new CliUser();
  const data = join(user.cwd, "data");
  const store = await openLocalStore({ dataDirectory: data });
  await store.create("/a", JSON_STREAM);
  await store.append("/a", message({ n: 1 }));
  await store.close();
  const check = ["serve", "--check", data];
  assert.deepEqual(await user.runWithClosedStdout(check), { code: 0, stderr: "" });
  const log = join(data, "logs/a.jsonl");
  writeFileSync(log, readFileSync(log, "utf8").replace("1", "3"));
  assert.deepEqual(await user.runWithClosedStdout(check), { code: 1, stderr: "" });
  assert.deepEqual(await user.runWithClosedStdout([...check, "--json"]), { code: 1, stderr: "" });
});
