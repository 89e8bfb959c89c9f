/** What is longer than the screen goes through the user's pager. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { hasProgram } from "../support/packages.ts";
import { CliUser } from "./cli.ts";
import { event, putThread } from "./stores.ts";

const terminalTest = test.skipIf(!hasProgram("script"));

function userWith(messages: number): CliUser {
  const user = new CliUser();
  const said = (_: unknown, n: number) => event("user_message", { text: `message ${n}` });
  putThread(user.cwd, "hello-1", ["bad", ...Array.from({ length: messages }, said)]);
  return user;
}

terminalTest(
  "a session longer than the screen goes to $PAGER, and messages come after it",
  async () => {
    const user = userWith(10);
    const PAGER = "sed 's/message/paged/'";
    const { code, shown } = await user.atTerminal(["show", "hello"], { rows: 24, env: { PAGER } });
    assert.equal(code, 0);
    assert.match(shown, /paged 0.*paged 9.*1 bad line was skipped/s);
    assert.doesNotMatch(shown, /message/);
  },
);

terminalTest("a session that fits, --no-pager and PAGER=cat need no pager", async () => {
  const PAGER = "sed 's/message/paged/'";
  for (const [messages, args, env] of [
    [3, [], { PAGER }],
    [10, ["--no-pager"], { PAGER }],
    [10, ["--json"], { PAGER }],
    [10, [], { PAGER: "cat" }],
  ] as const) {
    const { code, shown } = await userWith(messages).atTerminal(["show", "hello", ...args], {
      rows: 24,
      env,
    });
    assert.equal(code, 0, shown);
    assert.match(shown, /message 2/);
    assert.doesNotMatch(shown, /paged/);
  }
});

terminalTest("leaving the pager early is no failure", async () => {
  const env = { PAGER: "head -1" };
  const { code, shown } = await userWith(20_000).atTerminal(["show", "hello"], { rows: 24, env });
  assert.equal(code, 0);
  assert.equal(shown.split("\n").filter((line) => line.includes("##")).length, 1);
});

terminalTest("a pager that cannot be run is named", async () => {
  const env = { PAGER: "no-such-pager" };
  const { code, shown } = await userWith(10).atTerminal(["show", "hello"], { rows: 24, env });
  assert.equal(code, 2);
  assert.match(shown, /PAGER is no-such-pager, which cannot be run; --no-pager needs none/);
});
