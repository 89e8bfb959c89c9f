/**
 * Help: a person with `--help`, tab and no docs finds what they want in at most two tries: by the
 * help of `verbatim`, and by that of one command. A guessed name leads to the right command.
 */

import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { completionNodes } from "../../scripts/shell/tree.mjs";
import { isGroup } from "../../src/cli/command/command.ts";
import { COMMANDS, LISTED_GROUPS, runnable } from "../../src/cli/commands.ts";
import { GUESSED_NAMES, hintFor } from "../../src/cli/guesses.ts";
import { CliUser } from "./cli.ts";

const NODES = completionNodes(COMMANDS);

/** What a person wants, a word that the help shows for it, the command, and what its help shows. */
const TASKS: readonly (readonly [string, RegExp, string, RegExp])[] = [
  ["see which sessions there are", /list/i, "ls", /--limit/],
  ["read the latest one", /show a session/i, "show", /last/],
  ["watch one while it runs", /follow/i, "show", /--follow/],
  ["find what was said about something", /find words/i, "search", /since:90d/],
  ["see what this week cost", /cost/i, "usage", /daily --since 7d/],
  ["see which session was the most expensive", /list/i, "ls", /--sort cost/],
  ["keep sessions before an agent deletes them", /keep copies/i, "guard", /install/],
  ["send them to a server", /on a server/i, "guard", /^ {2}send /m],
  ["get a deleted session back", /bring a session back/i, "restore", /--force/],
  ["delete one for good", /for good/i, "rm", /--purge/],
  ["make a web page of one", /write sessions as md, html/i, "export", /html/],
  ["put all of a project into a spreadsheet", /csv/i, "export", /csv.*--project \./s],
  [
    "give one to a colleague, who continues it",
    /bundle/i,
    "export",
    /can\s+import\s+and\s+continue/,
  ],
  ["take what a colleague sent", /bundle/i, "import", /\.vbx/],
  ["record what my own agent says", /record json lines/i, "record", /my-agent \|/],
  ["ask a model to continue", /continues it/i, "resume", /--for <provider>/],
  ["check that nothing was changed", /unchanged/i, "verify", /--deep/],
  ["find passwords in them", /passwords/i, "scan", /--rule/],
  ["prove one answer to others", /prove single entries/i, "redact", /^ {2}prove /m],
  ["trust a colleague's key", /those you trust/i, "keys", /^ {2}trust /m],
  ["repair what a crash left", /mends/i, "doctor", /--fix/],
  ["back a server up", /backup/i, "server", /^ {2}backup /m],
];

test("each of the tasks is found by the help of verbatim, and that of one command", async () => {
  const user = new CliUser();
  const helpOf = async (...names: string[]) => (await user.run([...names, "--help"])).stdout;
  const first = await helpOf();
  for (const [task, word, command, detail] of TASKS) {
    const line = first.split("\n").find((each) => each.startsWith(`  ${command} `));
    assert.match(line ?? "", word, `${task}: the line of ${command}`);
    assert.match(await helpOf(command), detail, `${task}: the help of ${command}`);
  }
}, 300_000);

test("the help has five groups after where to start, each command on a line of 80 columns", async () => {
  const { stdout } = await new CliUser().run(["--help"]);
  const headings = LISTED_GROUPS.map(({ heading }) => heading);
  const places = ["Start here:", ...headings].map((each) => stdout.indexOf(`\n${each}\n`));
  assert.equal(headings.length, 5);
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  const listed = LISTED_GROUPS.flatMap(({ commands }) => commands);
  // With `proxy`, which is to come, at most 24.
  expect(listed.length).toBeLessThanOrEqual(24);
  for (const { name, summary } of listed) {
    const line = stdout.split("\n").find((each) => each.startsWith(`  ${name} `));
    assert.ok(line?.endsWith(` ${summary}`), `${name}: ${line}`);
  }
});

test("options that many commands have are explained once", async () => {
  const user = new CliUser();
  const { stdout } = await user.run(["help", "options"]);
  const shared = runnable().flatMap(({ command: { options } }) => {
    return options.flatMap(({ flags, isShared }) => (isShared === true ? [flags] : []));
  });
  for (const flags of new Set(shared)) expect(stdout).toContain(`  ${flags} `);
  const { stdout: ofLs } = await user.run(["help", "ls"]);
  expect(ofLs).not.toContain("copilot-cli");
  const filters = "--agent --project --since --until --model --machine --user --tag --starred";
  expect(ofLs).toContain(`Also: ${filters} --root --dialect`);
});

test("a guessed name is refused with what its user wants, which exists", async () => {
  const user = new CliUser();
  for (const [name, hint] of [
    ["list", "use `verbatim ls`"],
    ["cost", "`verbatim usage` counts tokens and cost"],
    ["tail", "use `verbatim show SESSION --follow`"],
    ["version", "use `verbatim --version`"],
  ] as const) {
    const { code, stdout, stderr } = await user.run([name, "x"]);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.equal(stderr, `error: there is no command '${name}'; ${hint}\n`);
  }
  const names = new Set(COMMANDS.map((command) => command.name));
  for (const name of GUESSED_NAMES) {
    assert.ok(!names.has(name), `${name} is a command`);
    for (const [, line = ""] of (hintFor(name) ?? "").matchAll(/`verbatim ([^`]+)`/g)) {
      const words = line.split(" ");
      if (line.startsWith("--") || line.startsWith("help ")) continue;
      const node = NODES.findLast(({ path }) => path.every((word, at) => word === words[at]));
      assert.ok(node && node.path.length > 0, `${name}: ${line}`);
      const known = node.options.flatMap((option) => option.names);
      const unknown = words.filter((word) => word.startsWith("-") && !known.includes(word));
      assert.deepEqual(unknown, [], `${name}: ${line}`);
    }
  }
});

test("what people guess is in the table", () => {
  const guesses =
    "list view cost ui web delete version config login status prune tag tail render handoff " +
    "unpack send trust head repair backup copy token prove stats";
  for (const name of guesses.split(" ")) assert.notEqual(hintFor(name), null, name);
});

test("a group without a command of its own lists its commands", () => {
  const groups = COMMANDS.filter(isGroup).map(({ name }) => name);
  assert.deepEqual(groups.sort(), ["hooks", "keys", "server"]);
});
