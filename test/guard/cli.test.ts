import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { guardService } from "../../src/guard/install.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const NAME = "6f1c2d3e-0000-4000-8000-000000000001";
const ID = `-home-me-app/${NAME}`;

function row(number: number, text = `message ${number}`): string {
  const uuid = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const message = { role: "user", content: text };
  const timestamp = new Date(1_790_000_000_000 + number * 1000).toISOString();
  const fields = { parentUuid: null, sessionId: NAME, version: "2.0.0", cwd: "/home/me/app" };
  return `${JSON.stringify({ ...fields, type: "user", message, uuid, timestamp })}\n`;
}

const ROWS = `${row(1)}${row(2)}${row(3)}`;

class GuardUser extends CliUser {
  readonly source = join(this.home, ".claude", "projects", `${ID}.jsonl`);
  readonly store = join(this.home, ".local", "share", "verbatim", "guard");

  constructor(rows = ROWS) {
    super();
    mkdirSync(dirname(this.source), { recursive: true });
    this.write(rows, 1_790_000_000_000);
    chmodSync(this.source, 0o640);
  }

  write(text: string, mtimeMs = Date.now() - 5000): void {
    writeFileSync(this.source, text);
    utimesSync(this.source, mtimeMs / 1000, mtimeMs / 1000);
  }

  async ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }
}

test("a deleted session is listed, shown and restored with its time and mode", async () => {
  const user = new GuardUser();
  assert.match(await user.ok("guard", "--once"), /^1 session, \d+ bytes copied\n$/);
  assert.equal(await user.ok("ls", "--source-gone", "--json"), "");
  const before = lstatSync(user.source);
  rmSync(user.source);
  assert.match(await user.ok("guard", "--once"), /deleted by Claude Code, kept here/);
  const [listed] = jsonLines(await user.ok("ls", "--source-gone", "--json"));
  assert.equal(listed?.id, ID);
  assert.match(await user.ok("show", NAME), /message 2/);
  assert.match(await user.ok("show", "last"), /message 3/);
  assert.match(await user.ok("restore", NAME), new RegExp(`wrote ${user.source}`));
  assert.equal(readFileSync(user.source, "utf8"), ROWS);
  const after = lstatSync(user.source);
  assert.equal(after.mode & 0o777, 0o640);
  assert.equal(after.mtimeMs, before.mtimeMs);
  assert.match(await user.ok("restore", NAME), /is there already, unchanged/);
  assert.equal(await user.ok("ls", "--source-gone", "--json"), "");
  assert.match(await user.ok("show", NAME), /message 2/);
});

test("a session that was deleted before the guard noticed is listed as gone", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  rmSync(join(user.home, ".claude"), { recursive: true });
  assert.equal(jsonLines(await user.ok("ls", "--source-gone", "--json")).length, 1);
  assert.match(await user.ok("show", NAME), /message 1/);
});

test("an older generation is shown and restored; the file that was there is renamed", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  user.write(row(9, "summary"));
  const said = await user.ok("guard", "--once");
  assert.match(said, /rewritten by Claude Code, 3 lines lost there; generation 1 is kept here/);
  assert.match(await user.ok("show", NAME), /summary/);
  assert.match(await user.ok("show", NAME, "--generation", "1"), /message 2/);
  const newest = await user.run(["restore", NAME, "--force"]);
  assert.match(newest.stdout, /is there already, unchanged/);
  assert.match(newest.stderr, /^earlier generations: 1 \(lines .*: 3\); --generation 1 --force/);
  const refused = await user.run(["restore", NAME, "--generation", "1"]);
  assert.equal(refused.code, 7);
  assert.match(refused.stderr, /RESTORE_REFUSED|longer or different/);
  assert.equal(readFileSync(user.source, "utf8"), row(9, "summary"));
  const forced = await user.ok("restore", NAME, "--generation", "1", "--force");
  assert.match(forced, /the file that was there is now .*before-restore-1/);
  assert.equal(readFileSync(user.source, "utf8"), ROWS);
  assert.equal(readFileSync(`${user.source}.before-restore-1`, "utf8"), row(9, "summary"));
});

test("restore writes the newest generation, unless another is named", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  user.write(row(9, "summary"));
  await user.ok("guard", "--once");
  rmSync(user.source);
  await user.ok("restore", NAME);
  assert.equal(readFileSync(user.source, "utf8"), row(9, "summary"));
});

test("ls says when an older generation holds more than the newest", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  assert.equal((await user.run(["ls"])).stderr, "");
  user.write(row(9, "summary"));
  await user.ok("guard", "--once");
  const { stderr } = await user.run(["ls"]);
  assert.match(stderr, new RegExp(`${NAME}: generation 1, kept by the guard, holds more`));
  const [listed] = jsonLines(await user.ok("ls", "--json"));
  assert.equal(listed?.fullerGeneration, 1);
  rmSync(user.source);
  const [gone] = jsonLines(await user.ok("ls", "--json"));
  assert.equal(gone?.fullerGeneration, 1);
  user.write(`${row(9, "summary")}${ROWS}${ROWS}`);
  await user.ok("guard", "--once");
  assert.equal((await user.run(["ls"])).stderr, "");
  assert.doesNotMatch(await user.ok("ls", "--json"), /fullerGeneration/);
});

test("ls --ids --source-gone prints the ids of deleted sessions alone", async () => {
  const user = new GuardUser();
  const other = join(dirname(user.source), "6f1c2d3e-0000-4000-8000-000000000002.jsonl");
  writeFileSync(other, ROWS);
  await user.ok("guard", "--once");
  assert.equal(await user.ok("ls", "--ids", "--source-gone"), "");
  rmSync(user.source);
  assert.equal(await user.ok("ls", "--ids", "--source-gone"), `${ID}\n`);
});

test("a truncated source is completed by restore without --force", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  truncateSync(user.source, 40);
  await user.ok("restore", NAME, "--generation", "1");
  assert.equal(readFileSync(user.source, "utf8"), ROWS);
});

test("restore --to writes below another directory, as below the agent's own", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  const to = tempDirectory();
  await user.ok("restore", NAME, "--to", to);
  assert.equal(readFileSync(join(to, "projects", `${ID}.jsonl`), "utf8"), ROWS);
});

test("a guard that follows copies what is appended, and is the only one", async () => {
  const user = new GuardUser();
  const guard = user.start(["guard", "--json"]);
  assert.equal((await guard.json()).event, "began");
  const [name = ""] = readdirSync(user.store);
  const copy = join(user.store, name, "projects", `${ID}.jsonl.1`);
  appendFileSync(user.source, row(4));
  await until(() => readFileSync(copy, "utf8") === ROWS + row(4));
  const second = join(dirname(user.source), "second.jsonl");
  writeFileSync(second, row(5));
  assert.equal((await guard.json()).event, "began");
  rmSync(second);
  assert.equal((await guard.json()).event, "source_deleted");
  const other = await user.run(["guard", "--once"]);
  assert.notEqual(other.code, 0);
  assert.match(
    await user.ok("guard", "status"),
    /2 sessions kept, 1 only here.*a guard is running/,
  );
  guard.signal("SIGTERM");
  assert.equal(await guard.exitCode(), 0);
  assert.match(await user.ok("guard", "status"), /no guard is running/);
});

test("a server guards sessions while it runs, and holds the guard's place", async () => {
  const user = new GuardUser();
  const server = user.start(["serve", "--port", "0", "--guard"]);
  await until(() => existsSync(user.store) && readdirSync(user.store).length > 0);
  const [name = ""] = readdirSync(user.store);
  const copy = join(user.store, name, "projects", `${ID}.jsonl.1`);
  await until(() => existsSync(copy) && readFileSync(copy, "utf8") === ROWS);
  rmSync(user.source);
  await server.saysOnStderr("deleted by Claude Code, kept here");
  server.signal("SIGTERM");
  assert.equal(await server.exitCode(), 0);
  assert.match(await user.ok("guard", "status"), /1 only here.*no guard is running/);
});

test("--verify without any copy says so, and is no success", async () => {
  const user = new GuardUser();
  const { code, stderr } = await user.run(["guard", "--verify"]);
  assert.equal(code, 1);
  assert.match(stderr, /^nothing is guarded yet: `verbatim guard --once`/);
});

test("--verify finds a changed copy and a source that differs", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  assert.match(await user.ok("guard", "--verify"), /1 generation read, 0 signed.*0 problems/);
  const { mtimeMs } = lstatSync(user.source);
  user.write(ROWS.replace("message 2", "massage 2"), mtimeMs);
  const hidden = await user.run(["guard", "--verify"]);
  assert.equal(hidden.code, 1);
  assert.match(hidden.stdout, /no longer begins with the copy/);
  rmSync(user.source);
  await user.ok("guard", "--once");
  const [name = ""] = readdirSync(user.store);
  const copy = join(user.store, name, "projects", `${ID}.jsonl.1`);
  writeFileSync(copy, ROWS.replace("message 1", "massage 1"));
  const changed = await user.run(["guard", "--verify"]);
  assert.equal(changed.code, 1);
  assert.match(changed.stdout, /its bytes are not those that were copied/);
});

test("--verify finds what sources have and copies lack", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  appendFileSync(user.source, row(4));
  const grown = await user.run(["guard", "--verify"]);
  assert.equal(grown.code, 1);
  assert.match(
    grown.stdout,
    new RegExp(`generation 1: ${row(4).length} bytes of it are not copied`),
  );
  await user.ok("guard", "--once");
  await user.ok("guard", "--verify");
  writeFileSync(join(dirname(user.source), "second.jsonl"), row(5));
  const fresh = await user.run(["guard", "--verify"]);
  assert.equal(fresh.code, 1);
  assert.match(fresh.stdout, /second: it has no copy; run `verbatim guard --once`/);
});

test("--once is a success only if everything is guarded", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  const link = join(dirname(user.source), "linked.jsonl");
  symlinkSync(user.source, link);
  for (let time = 0; time < 2; time++) {
    const { code, stderr } = await user.run(["guard", "--once"]);
    assert.equal(code, 7, stderr);
    assert.match(stderr, /linked\.jsonl is not guarded: /);
  }
  assert.equal((await user.run(["guard", "--verify"])).code, 1);
  rmSync(link);
  await user.ok("guard", "--once");
  symlinkSync(".gemini", join(user.home, ".gemini"));
  const { code, stderr } = await user.run(["guard", "--once"]);
  assert.equal(code, 7);
  assert.match(stderr, /\.gemini is not guarded: it cannot be looked at \(ELOOP\)/);
});

test("signed copies are verified, and a changed byte is found", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once", "--sign");
  appendFileSync(user.source, row(4).slice(0, 30));
  await user.ok("guard", "--once", "--sign");
  appendFileSync(user.source, row(4).slice(30));
  await user.ok("guard", "--once", "--sign");
  assert.match(await user.ok("guard", "--verify"), /1 generation read, 1 signed and verified/);
  const [name = ""] = readdirSync(user.store);
  const copy = join(user.store, name, "projects", `${ID}.jsonl.1`);
  const sidecar = readFileSync(`${copy}.checkpoints`, "utf8");
  const [first = ""] = sidecar.split("\n");
  assert.equal(JSON.parse(first).thread_id, `guard:claude-code/${ID}/1`);
  writeFileSync(copy, readFileSync(copy, "utf8").replace("message 1", "massage 1"));
  user.write(readFileSync(copy, "utf8"));
  const changed = await user.run(["guard", "--verify"]);
  assert.equal(changed.code, 1);
  assert.match(changed.stdout, /its signatures: tampered/);
});

test("copies that were made without --sign are signed later, also if nothing changed", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  await user.ok("guard", "--once", "--sign");
  const SIGNED = /1 generation read, 1 signed and verified, 0 problems/;
  assert.match(await user.ok("guard", "--verify"), SIGNED);

  appendFileSync(user.source, row(4));
  const unsigned = await user.run(["guard", "--once"]);
  assert.match(unsigned.stderr, /^warning: the copy of .* was signed so far, .*add --sign/);
  const verified = await user.run(["guard", "--verify"]);
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /incomplete: .* `verbatim guard --once --sign` signs it/);
  await user.ok("guard", "--once", "--sign");
  assert.match(await user.ok("guard", "--verify"), SIGNED);

  appendFileSync(user.source, row(5));
  await user.ok("guard", "--once");
  appendFileSync(user.source, row(6));
  await user.ok("guard", "--once", "--sign");
  assert.match(await user.ok("guard", "--verify"), SIGNED);
});

test("a copy that was changed before it is signed is not vouched for", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once", "--sign");
  appendFileSync(user.source, row(4));
  await user.ok("guard", "--once");
  const [name = ""] = readdirSync(user.store);
  const copy = join(user.store, name, "projects", `${ID}.jsonl.1`);
  const { atimeMs, mtimeMs } = lstatSync(copy);
  writeFileSync(copy, readFileSync(copy, "utf8").replace("message 4", "massage 4"));
  utimesSync(copy, atimeMs / 1000, mtimeMs / 1000);
  appendFileSync(user.source, row(5));
  await user.run(["guard", "--once", "--sign"]);
  const { stdout } = await user.run(["guard", "--verify"]);
  assert.match(stdout, /generation 1: its signatures: incomplete/);
});

test("a copy whose signatures were removed is not signed again", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once", "--sign");
  const [name = ""] = readdirSync(user.store);
  rmSync(join(user.store, name, "projects", `${ID}.jsonl.1.checkpoints`));
  const { code, stderr } = await user.run(["guard", "--once", "--sign"]);
  assert.equal(code, 7);
  assert.match(stderr, /is rollback and is not signed any further/);
  const verified = await user.run(["guard", "--verify"]);
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /its signatures: rollback/);
});

test("the service files are well-formed", () => {
  const home = tempDirectory();
  const command = ["/usr/bin/node", '/home/me/100% "a" & $b/main.js', "guard"];
  const facts = { home, configDirectory: join(home, ".config"), command };
  const unit = guardService({ ...facts, platform: "linux" });
  const path = join(home, "verbatim-guard.service");
  writeFileSync(path, unit.text.replace('"/usr/bin/node"', `"${process.execPath}"`));
  if (existsSync("/usr/bin/systemd-analyze")) {
    const env = { ...process.env, XDG_RUNTIME_DIR: home };
    const { SYSTEMD_LOG_LEVEL: _, ...rest } = env as Record<string, string>;
    execFileSync("systemd-analyze", ["verify", "--user", path], { env: rest });
  }
  const plist = guardService({ ...facts, platform: "darwin" }).text;
  assert.match(plist, /<string>\/home\/me\/100% "a" &amp; \$b\/main.js<\/string>/);
  const script = "import sys,xml.dom.minidom as m;m.parseString(sys.stdin.buffer.read())";
  execFileSync("python3", ["-c", script], { input: plist });
});

test("install writes a service that systemd accepts, and uninstall removes it", async () => {
  const user = new GuardUser();
  const config = join(user.home, "config");
  const bin = join(user.home, "bin");
  mkdirSync(bin);
  const calls = join(user.home, "calls");
  // The real systemctl would change the services of the user who runs the tests.
  writeFileSync(join(bin, "systemctl"), `#!/bin/sh\necho "$@" >> ${calls}\n`, { mode: 0o755 });
  const env = { XDG_CONFIG_HOME: config, PATH: `${bin}:${process.env.PATH}` };
  const unit = join(config, "systemd/user/verbatim-guard.service");
  const installed = await user.run(["guard", "install", "--sign"], { env });
  assert.deepEqual([installed.code, installed.stdout], [0, `wrote ${unit}\n`]);
  assert.match(readFileSync(unit, "utf8"), /^ExecStart=".*node" ".*" "guard" "--sign"$/m);
  if (existsSync("/usr/bin/systemd-analyze")) {
    const runtime = { PATH: process.env.PATH ?? "", XDG_RUNTIME_DIR: user.home };
    execFileSync("systemd-analyze", ["verify", "--user", unit], { env: runtime });
  }
  const removed = await user.run(["guard", "uninstall"], { env });
  assert.equal(removed.code, 0, removed.stderr);
  assert.ok(!existsSync(unit));
  const named = "--now verbatim-guard.service";
  assert.equal(readFileSync(calls, "utf8"), `--user enable ${named}\n--user disable ${named}\n`);
  writeFileSync(join(bin, "systemctl"), "#!/bin/sh\nexit 3\n");
  const failed = await user.run(["guard", "install"], { env });
  assert.equal(failed.code, 7);
  assert.match(
    failed.stderr,
    /systemctl --user enable .* failed: it ended with 3; run it yourself/,
  );
});

test("a database of OpenClaw is named as not guarded, by the guard, its status and the agents", async () => {
  const user = new GuardUser();
  const database = join(user.home, ".openclaw/agents/main/agent/openclaw-agent.sqlite");
  const note = /OpenClaw keeps sessions in .*openclaw-agent\.sqlite, .*they are not guarded/;
  mkdirSync(dirname(database), { recursive: true });
  assert.doesNotMatch((await user.run(["guard", "--once"])).stderr, note);
  writeFileSync(database, "");
  for (const [option, exitCode] of [
    ["--once", 7],
    ["status", 0],
  ] as const) {
    const { code, stderr } = await user.run(["guard", option]);
    assert.equal(code, exitCode);
    assert.match(stderr, note);
  }
  const other = await user.run(["guard", "--once", "--agent", "claude-code"]);
  assert.doesNotMatch(other.stderr, note);
  assert.match(await user.ok("agents"), note);
  const agents = jsonLines(await user.ok("agents", "--json"));
  assert.deepEqual(
    agents.map((agent) => [agent.dialect, agent.unreadDatabases]),
    [
      ["claude-code", []],
      ["openclaw", [database]],
    ],
  );
});
