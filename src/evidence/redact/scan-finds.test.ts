/** Withholding by the rules of `scan`, and by what it printed. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { findsOf, findsOfRules } from "./scan-finds.ts";

const FIND = {
  session: "cook-1",
  dialect: "rye",
  root: "/home/me/app",
  rule: "github",
  masked: "ghp…K2",
  in: "tool_result",
  tool: "shell",
  depth: 2,
  file: null as string | null,
  places: [{ entry: 3, line: { start: 310, end: 520 }, value: { start: 440, end: 480 } }],
};
const LINE = new Uint8Array(209);

function scanFile(...finds: readonly unknown[]): string {
  const path = join(tempDirectory(), "finds.jsonl");
  writeFileSync(path, finds.map((find) => `${JSON.stringify(find)}\n`).join(""));
  return path;
}

test("a find is withheld at its place in its line, and only in its session", async () => {
  const path = scanFile(FIND, { ...FIND, session: "other", rule: "email" });
  const finder = await findsOf(path, "cook-1");
  expect(finder(LINE, 3)).toEqual([{ rule: "github", from: 130, to: 170 }]);
  expect(finder(LINE, 4)).toEqual([]);
  expect((await findsOf(path, "other"))(LINE, 3)[0]?.rule).toBe("email");
});

test("a find in a file next to the log, or past its line, takes the whole line", async () => {
  const spilled = await findsOf(scanFile({ ...FIND, file: "a.0.spill" }), "cook-1");
  expect(spilled(LINE, 3)).toEqual([{ rule: "github", from: 0, to: 210 }]);
  const finder = await findsOf(scanFile(FIND), "cook-1");
  expect(finder(new Uint8Array(100), 3)).toEqual([{ rule: "github", from: 0, to: 101 }]);
});

test("what is not a find is refused, and a find in a sidecar's checkpoint", async () => {
  for (const wrong of [7, { rule: "x", places: [{}] }, { rule: 1, places: [] }, { places: 1 }]) {
    await refusal(findsOf(scanFile(wrong), null), "BAD_SETTING");
  }
  await refusal(findsOf("/nowhere/finds.jsonl", null), "IO_ERROR");
  const sidecar = { ...FIND, in: "checkpoint", file: "log.jsonl.checkpoints" };
  await refusal(findsOf(scanFile(sidecar), "cook-1"), "CANNOT_WITHHOLD");
});

test("rules are named, or all of them", async () => {
  const line = Buffer.from('{"text":"write to ada@mill-lane.net"}');
  expect((await findsOfRules(["all"]))(line, 1).length).toBeGreaterThan(0);
  await refusal(findsOfRules(["nonsense"]), "BAD_SETTING");
});
