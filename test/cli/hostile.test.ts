/**
 * Transcripts are hostile: they contain what web pages, tools and models printed. Nothing in one may
 * act on the terminal that shows it.
 *
 * Method: real commands in a real terminal (`script` of util-linux), with escape codes in every text
 * field; every control character in the output must be one of ours.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasProgram } from "../support/packages.ts";
import { CliUser } from "./cli.ts";
import { event, put, putThread, putTurns, turn } from "./stores.ts";

/** Clears the screen, retitles the window, fills the clipboard, goes back, turns text around. */
const ATTACKS = [
  "\u001b[2J\u001b[31m",
  "\u001b]0;owned\u0007",
  "\u001b]52;c;b3duZWQ=\u001b\\",
  "\u009b2J\u009d0;owned\u009c",
  "safe\rEVIL",
  "a\b\b\u007f",
  "\u202etxt.exe\u2066x\u2069",
  "\u0000\u000b\u000c\u000e\u000f",
];
const ATTACK = ATTACKS.join(" ");

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
/** Colours and weights, ours or a program's, and our progress. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const OURS = /\u001b\[[0-9;]*m|\r\u001b\[K/g;

function fillWithAttacks(user: CliUser): void {
  putThread(user.cwd, "evil-1", [
    event("thread_start", { directive: ATTACK, model: ATTACK }),
    event("user_message", { text: ATTACK, role: ATTACK }),
    event("assistant_reasoning", { text: ATTACK }),
    event("assistant_text", { text: ATTACK, model: ATTACK }),
    event("tool_call_start", { tool: ATTACK, call_id: ATTACK, input: { [ATTACK]: ATTACK } }),
    event("tool_call_result", { call_id: "1", output: ATTACK, error: ATTACK }),
    event("spawn_child", { child_thread_id: ATTACK, child_directive: ATTACK }),
    event("thread_error", { error_code: ATTACK, detail: ATTACK }),
    event(ATTACK),
    `{"${ATTACK}"`,
  ]);
  const cost = { spend: 1 };
  const created_at = new Date().toISOString();
  const meta = {
    thread_id: ATTACK,
    directive: ATTACK,
    model: ATTACK,
    status: ATTACK,
    cost,
    created_at,
  };
  put(join(user.cwd, ".ai/threads/evil-1/thread.json"), JSON.stringify(meta));
  putTurns(user, "cook/s1", [
    turn("user", { content: ATTACK }),
    turn("assistant", {
      toolCalls: [{ id: "1", name: ATTACK, args: { a: ATTACK } }],
      toolResults: [{ callId: "1", result: { deep: [ATTACK] }, error: ATTACK }],
      metadata: { model: ATTACK, reasoning: ATTACK, children: [{ session: ATTACK }] },
    }),
  ]);
  // Names that are not valid ids, as another program might create them.
  put(join(user.cwd, ".ai/threads/evil-1/\u001b[2J"), "");
  put(join(user.home, ".homeagent/agents/\u001b[2Jx/sessions/y.jsonl"), "{}\n");
}

const COMMANDS = [
  ["show", "evil-1", "--thinking"],
  ["show", "evil-1", "--json"],
  ["show", "cook/s1", "--thinking", "--last", "5"],
  ["export", "evil-1", "--thinking"],
  ["export", "cook/s1", "--thinking"],
  ["ls"],
  ["ls", "--json"],
  ["usage", "directive"],
  ["usage", "directive", "--json"],
  ["show", `${ATTACKS[0]}nope`],
  ["show", "evil-1", `--${ATTACKS[0]}`],
  [`${ATTACKS[0]}`],
];

/** `script` makes the terminal. */
const terminalTest = test.skipIf(!hasProgram("script"));

terminalTest(
  "no control character of a transcript, a name or an argument reaches a terminal",
  async () => {
    const user = new CliUser();
    fillWithAttacks(user);
    const shown = COMMANDS.map(async (args) => {
      const sent = await user.runInTerminal(args);

      assert.notEqual(sent, "", args.join(" "));
      const rest = sent.replace(OURS, "");
      assert.equal(ACTING.exec(rest), null, `${args[0]}: ${JSON.stringify(rest.slice(0, 2000))}`);
    });
    await Promise.all(shown);
    expect(await user.runInTerminal(["show", "evil-1"])).toContain("\\u001b[2J\\u001b[31m");
  },
);

test("in a pipe show and ls are as safe, and render prints the document unchanged", async () => {
  const user = new CliUser();
  fillWithAttacks(user);
  for (const args of [["show", "evil-1"], ["show", "cook/s1", "--json"], ["ls"]]) {
    const { code, stdout, stderr } = await user.run(args);

    assert.equal(code, 0, stderr);
    assert.equal(ACTING.exec(stdout + stderr), null, args.join(" "));
  }
  const { stdout } = await user.run(["export", "evil-1"]);
  expect(stdout).toContain(ATTACK);
});

terminalTest("a terminal gets colours, a pipe or NO_COLOR gets none", async () => {
  const user = new CliUser();
  const id = `hello-${"x".repeat(100)}`;
  putThread(user.cwd, id);
  const coloured = await user.runInTerminal(["show", "hello"]);
  const plain = await user.runInTerminal(["show", "hello"], { NO_COLOR: "1" });
  const piped = await user.run(["show", "hello"]);
  const list = await user.runInTerminal(["ls"]);

  expect(coloured).toContain("\u001b[1;36m## User");
  assert.equal(plain, piped.stdout);
  assert.equal(coloured.replace(OURS, ""), plain);
  // On a terminal of 80 columns a long id is cut so that a session is one line.
  const afterProgress = list.slice(list.lastIndexOf("\u001b[K") + "\u001b[K".length);
  const rows = afterProgress.trimEnd().split("\n");
  assert.equal(rows.length, 2);
  for (const row of rows) assert.ok(row.length <= 80, row);
  expect(list).toContain("…");
});
