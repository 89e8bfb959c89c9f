/** Output files that a user names: a log is never replaced or appended to. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser } from "./cli.ts";

const ID = "a-1";

class Recording extends CliUser {
  readonly log = join(this.cwd, ".ai/threads/b-1/transcript.jsonl");

  /** Two signed threads; the second is being recorded, and has one acknowledged entry. */
  async begin() {
    const args = ["record", "--dialect", "rye", "--directive", "d", "--sign", "--session"];
    const input = asLines({ type: "user_message", text: "hi" });
    assert.equal((await this.run([...args, ID], { input })).code, 0);
    const recorder = this.start([...args, "b-1", "--ack"]);
    await recorder.json();
    recorder.say(JSON.stringify({ type: "user_message", text: "acknowledged" }));
    await recorder.json();
    return recorder;
  }
}

test("no command writes its result over the log of another session", async () => {
  const user = new Recording();
  const recorder = await user.begin();
  for (const args of [
    ["export", ID, "--format", "etf", "--output"],
    ["export", ID, "--output"],
    ["export", ID, "--format", "html", "--output"],
    ["keys", "head", "export"],
    ["export", "--format", "bundle", ID, "--output"],
    ["serve", "--data", join(user.cwd, "data"), "--port", "0", "--request-log"],
  ]) {
    const { code, stderr } = await user.run([...args, user.log]);
    assert.equal(code, args.includes("bundle") ? 7 : 2, args.join(" "));
    expect(stderr).toMatch(/belongs to a log or is next to one; choose another file/);
  }
  recorder.endInput();
  assert.equal(await recorder.exitCode(), 0);
  expect(readFileSync(user.log, "utf8")).toContain("acknowledged");
});
