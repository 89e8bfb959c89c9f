/** Vouching for a session whose log has an abnormal end: what is left after repair is signed. */

import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { event } from "../cli/stores.ts";

const ID = "hello-1739012630";
const LINE = JSON.stringify({ ...event("x", { text: "hi" }), thread_id: ID });
const TORN = LINE.slice(0, 30);
const NULS = "\0".repeat(40);

test.each([
  ["lacks only its LF", LINE, LINE, 0],
  ["is torn", TORN, "", 30],
  ["is NULs", NULS, "", 40],
  ["is NULs, after a line", `${LINE}\n${NULS}`, LINE, 40],
  ["is torn, after a line", `${LINE}\n${TORN}`, LINE, 30],
])(
  "a log whose end %s can be vouched for, in its state after repair",
  async (_, end, left, cut) => {
    const user = new CliUser();
    const path = join(user.cwd, ".ai/threads", ID, "transcript.jsonl");
    const record = [
      "record",
      "--dialect",
      "rye",
      "--directive",
      "hello",
      "--session",
      ID,
      "--sign",
    ];
    const input = '{"type":"step_start"}\n{"type":"assistant_text","text":"a"}\n';
    assert.equal((await user.run(record, { input })).code, 0);
    const signed = readFileSync(path);
    appendFileSync(path, end);

    const vouched = await user.run(["doctor", "--fix", "--vouch", "--yes", ID]);
    assert.deepEqual([vouched.code, vouched.stderr], [0, ""]);
    if (left !== "") expect(vouched.stdout).toContain(left);
    const [verdict] = jsonLines((await user.run(["verify", "--json", ID])).stdout);
    expect(verdict).toMatchObject({ verdict: "verified", found: [] });

    const contents = readFileSync(path);
    assert.deepEqual(contents.subarray(0, signed.length), signed);
    const added = contents.toString("utf8", signed.length);
    assert.ok(added.startsWith(left === "" ? "{" : `${left}\n`));
    const checkpoint = jsonLines(added).at(-1)?.payload as Record<string, unknown>;
    const range = left === "" ? null : [signed.length, signed.length + left.length + 1];
    expect(checkpoint).toMatchObject({ kind: "recovery", cut, found: range, vouched: true });
    const aside = readdirSync(dirname(path)).filter((name) => name.includes(".torn-"));
    assert.equal(aside.length, cut === 0 ? 0 : 1);
  },
);

test("a vouch that is refused signs nothing, as it says", async () => {
  const user = new CliUser();
  const path = join(user.cwd, ".ai/threads", ID, "transcript.jsonl");
  const record = ["record", "--dialect", "rye", "--directive", "hello", "--session", ID, "--sign"];
  const input = '{"type":"step_start"}\n{"type":"assistant_text","text":"a"}\n';
  assert.equal((await user.run(record, { input })).code, 0);
  const signed = readFileSync(path, "utf8");
  // Opening to append moves the line of NULs aside, so that the log is not the one that was shown.
  appendFileSync(path, `${LINE}\n${NULS}\n`);
  const refused = await user.run(["doctor", "--fix", "--vouch", "--yes", ID]);
  assert.equal(refused.code, 7);
  expect(refused.stderr).toContain("nothing was signed");
  assert.equal(readFileSync(path, "utf8"), `${signed}${LINE}\n`);
  const again = await user.run(["doctor", "--fix", "--vouch", "--yes", ID]);
  assert.deepEqual([again.code, again.stderr], [0, ""]);
});
