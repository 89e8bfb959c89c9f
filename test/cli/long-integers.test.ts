/** Integers that JavaScript cannot represent, in a log of another program: every digit is shown. */

import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { TranscriptRenderer, TranscriptWriter } from "../../src/doors/rye.ts";
import { CliUser, jsonLines } from "./cli.ts";
import { event, putThread } from "./stores.ts";

const LONG = "12345678901234567890";
const CALL = event("tool_call_start", {
  tool: "look",
  call_id: "c1",
  input: { id: "#", in: ["#"] },
});
const THREAD = [
  event("user_message", { text: "go" }),
  JSON.stringify(CALL).replaceAll('"#"', LONG),
];

test.each([
  [["show", "hello-1"], `▸ look ${LONG} (no result)\n    in:\n        [\n          ${LONG}\n`],
  [["export", "hello-1"], `"id": ${LONG}`],
  [["export", "hello-1", "--format", "html"], LONG],
  [["export", "hello-1", "--format", "html"], `<span class="number">${LONG}</span>`],
  [["search", LONG], LONG],
] as const)("`%j` prints an integer of 64 bits as it is in the log", async (command, printed) => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  const { code, stdout } = await user.run(command);
  assert.equal(code, 0);
  expect(stdout).toContain(printed);
});

test("`--json`, readEvents and the renderer keep the digits of an integer of 64 bits", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  const { stdout } = await user.run(["show", "hello-1", "--json"]);
  const [, call] = jsonLines(stdout) as { native: unknown; parts: { input: unknown }[] }[];
  expect(call?.native).toMatchObject({ input: { id: LONG, in: [LONG] } });
  assert.deepEqual(call?.parts[0]?.input, { id: LONG, in: [LONG] });

  const writer = new TranscriptWriter({ transcriptDir: `${user.cwd}/.ai/threads` });
  const { events } = await writer.readEvents("hello-1");
  assert.deepEqual(events[1]?.input, { id: LONG, in: [LONG] });
  const markdown = await new TranscriptRenderer().render("hello-1", user.cwd);
  expect(markdown).toContain(`"id": ${LONG},\n  "in": [\n    ${LONG}\n`);
});
