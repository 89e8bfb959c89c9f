/** The first minutes with the command: no argument, only a file, the latest session, a browser. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ioError } from "../../src/core/base/errors.ts";
import { CliUser } from "./cli.ts";
import { event, putThread } from "./stores.ts";

test("verbatim without arguments prints the help, with where to start, and exits 0", async () => {
  const { code, stdout, stderr } = await new CliUser().run([]);
  assert.equal(code, 0);
  assert.equal(stderr, "");
  assert.match(stdout, /Start here:\n {2}verbatim serve --open/);
});

test.each(["-v", "-V", "--version"])("%s prints the version", async (flag) => {
  const { code, stdout } = await new CliUser().run([flag]);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test("a file as the only argument is shown, and a word that is neither file nor command is refused", async () => {
  const user = new CliUser();
  const path = putThread(user.cwd, "hello-1", [event("user_message", { text: "Good morning" })]);
  const shown = await user.run([path]);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /Good morning/);
  const refused = await user.run(["hello-2"]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /unknown command '.*', and there is no such file/);
});

test("mistyped words get the probable ones, and wrong values the possible ones", async () => {
  const user = new CliUser();
  for (const [args, said] of [
    [["usage", "dayly"], /there is no report dayly; did you mean daily\?/],
    [["usage", "--budget", "20/year"], /takes dollars for a day, week or month/],
    [["search", "build sinse:2026"], /an unknown filter sinse: \(did you mean since:\?\)/],
  ] as const) {
    const { code, stderr } = await user.run(args);
    assert.equal(code, 2);
    expect(stderr).toMatch(said);
  }
});

test("show last` shows the session that changed last", async () => {
  const user = new CliUser();
  for (const [at, id] of ["hello-2", "hello-3", "hello-1"].entries()) {
    const path = putThread(user.cwd, id, [event("user_message", { text: `I am ${id}` })]);
    utimesSync(path, 1_763_000_000 + at, 1_763_000_000 + at);
  }
  assert.match((await user.run(["show", "last"])).stdout, /I am hello-1/);
  assert.equal((await new CliUser().run(["show", "last"])).code, 7);
});

test("ls --ids` prints only ids", async () => {
  const user = new CliUser();
  for (const id of ["hello-1", "hello-2"]) putThread(user.cwd, id);
  const { code, stdout } = await user.run(["ls", "--ids"]);
  assert.equal(code, 0);
  assert.deepEqual(stdout.trim().split("\n").sort(), ["hello-1", "hello-2"]);
  assert.equal((await user.run(["ls", "--ids", "--json"])).code, 2);
});

test("a search without hits says so on a terminal, and prints nothing in a pipe", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", [event("user_message", { text: "Good morning" })]);
  const piped = await user.run(["search", "evening"]);
  assert.deepEqual([piped.code, piped.stdout, piped.stderr], [1, "", ""]);
  const terminal = await user.atTerminal(["search", "evening"], {});
  assert.match(terminal.shown, /nothing found/);
  assert.equal(terminal.code, 1);
});

test("ls at a terminal does not cut ids that differ in their last character", async () => {
  const user = new CliUser();
  const ids = ["a", "b"].map((end) => `6f1c2d3e-0000-4000-8000-00000000000${end}`);
  const text = "and a fine day ".repeat(10);
  for (const id of ids) putThread(user.cwd, id, [event("user_message", { text })]);
  const { shown } = await user.atTerminal(["ls"], {});
  for (const id of ids) expect(shown).toContain(`…  ${id}`);
});

test("a long title takes one line of a terminal in search, and is whole in a pipe", async () => {
  const user = new CliUser();
  const text = `Good morning, ${"and a fine day ".repeat(10)}`.trim();
  putThread(user.cwd, "hello-1", [event("user_message", { text })]);
  assert.ok((await user.run(["search", "morning"])).stdout.startsWith(`${text}  hello-1  `));
  const { shown } = await user.atTerminal(["search", "morning"], { env: { NO_COLOR: "1" } });
  const [cut = ""] = shown.slice(shown.lastIndexOf("\r") + 1).split("\n");
  expect(cut).toMatch(/^Good morning, .*… {2}hello-1 {2}\w+/);
  assert.ok(cut.length <= 80, cut);
});

test("a system error is reported in a sentence that says what to do", async () => {
  const user = new CliUser();
  const missing = await user.run(["import", "no.vbx"]);
  assert.equal(missing.code, 7);
  assert.match(missing.stderr, /no such file or directory: \S+no\.vbx; check the path/);
  const refused = ioError("/x", "reading", Object.assign(new Error(), { code: "EACCES" }));
  const sentence =
    "reading failed with EACCES: no permission to use /x; check who owns it and its mode";
  assert.equal(refused.message, sentence);
  const unknown = ioError("/x", "reading", Object.assign(new Error(), { code: "EODD" }));
  assert.equal(unknown.message, "reading of /x failed with EODD");
});

test("serve --open` opens the viewer, and reports when it cannot", async () => {
  const user = new CliUser();
  const opened = join(user.home, "opened");
  const opener = join(user.cwd, "xdg-open");
  writeFileSync(opener, `#!/bin/sh\necho "$1" > ${opened}\n`);
  chmodSync(opener, 0o755);
  const PATH = `${user.cwd}:${process.env.PATH}`;
  const running = user.start(["serve", "--port", "0", "--open"], { PATH });
  const [url] = /http:\S+/.exec((await running.line()) ?? "") ?? [assert.fail(running.stderr)];
  const open = () => (existsSync(opened) ? readFileSync(opened, "utf8") : "");
  await expect.poll(open).toMatch(/\n$/);
  assert.ok(open().startsWith(`${url}/open?key=`));
  assert.equal((await fetch(open().trim(), { redirect: "manual" })).status, 303);
  running.signal("SIGTERM");
  await running.exitCode();

  const without = user.start(["serve", "--port", "0", "--open"], { PATH: user.home });
  await without.line();
  await without.saysOnStderr("no browser was opened: xdg-open is not installed; open http");
  without.signal("SIGTERM");
  await without.exitCode();
});

test("where nothing was recorded, each command says where it looked or what to do next", async () => {
  const user = new CliUser();
  for (const [args, said] of [
    [["show", "last"], /there are no sessions yet: .*--root names a store/],
    [["show", "--home-me--/2026"], /there is no session --home-me--\/2026: no file/],
    [["search", "morning"], /no agent's sessions in your home; .*`verbatim agents` looks/],
    [["scan"], /no agent's sessions in your home; .*`verbatim agents` looks/],
    [["ls", "--source-gone"], /the guard has no session that its agent deleted/],
    [["guard", "--once"], /no sessions were found; `verbatim agents` says where/],
    [["restore", "hello-1"], /the guard has no copy of hello-1; `verbatim ls --source-gone`/],
    [["usage"], /no usage was found; looked in\n {2}Claude Code: /],
  ] as const) {
    const { stdout, stderr } = await user.run(args);
    expect(`${stdout}${stderr}`).toMatch(said);
  }
});

test("serve --data names the directory in the commands that it advises", async () => {
  const user = new CliUser();
  const running = user.start(["serve", "--port", "0", "--data", "streams"]);
  const data = `--data ${join(user.cwd, "streams")}`;
  const lines: (string | null)[] = [];
  for (let at = 0; at < 10; at++) lines.push(await running.line());
  expect(lines.join("\n")).toContain(`\`verbatim open ${data}\` makes a new one`);
  expect(lines.at(-1)).toContain(`\`verbatim server token create ${data}\``);
  running.signal("SIGTERM");
  await running.exitCode();
});

test("serve --root says that other users can read the sessions", async () => {
  const user = new CliUser();
  const running = user.start(["serve", "--port", "0", "--root", "."]);
  const lines = [await running.line(), await running.line(), await running.line()];
  expect(lines.join(" ")).toContain("every user of this machine can, until you create a token");
  running.signal("SIGTERM");
  await running.exitCode();
});
