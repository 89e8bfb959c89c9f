/** `verbatim rm` of agents' sessions: the guard's copies go, the agent's own files never. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { promptRow, writeClaude } from "../support/agent-home.ts";
import { until } from "../support/until.ts";
import { holding } from "./byte-search.ts";

const VALUE = "quixote90417zebra";
const NAME = "6f1c2d3e-1000-4000-8000-000000000000";
const ID = `-home-me-app/${NAME}`;
const AT = Date.parse("2026-08-15T10:00:00.000Z");

class GuardUser extends CliUser {
  readonly store = join(this.home, ".local/share/verbatim/guard");

  constructor() {
    super();
    this.write(NAME);
  }

  fileOf(name: string): string {
    return join(this.home, ".claude/projects/-home-me-app", `${name}.jsonl`);
  }

  write(name: string, text = VALUE): void {
    writeClaude(this.home, `-home-me-app/${name}.jsonl`, [
      promptRow(text, { session: name, at: AT }),
    ]);
    utimesSync(this.fileOf(name), AT / 1000, AT / 1000);
  }

  async ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** The guard's files with the text, but those in its trash. */
  get copies(): string[] {
    return holding(this.store, VALUE).filter((name) => !name.includes(".verbatim/trash"));
  }

  get events(): unknown[] {
    const [root = ""] = readdirSync(this.store);
    const text = readFileSync(join(this.store, root, "journal.jsonl"), "utf8");
    return jsonLines(text).map(({ event }) => event);
  }
}

test("the guard's copy goes to the trash, the agent's file stays, and is not copied again", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  const before = readFileSync(user.fileOf(NAME));
  assert.equal(user.copies.length, 1);
  const said = await user.ok("rm", NAME);
  expect(said).toContain(`the guard's copy of ${ID} is in the trash; `);
  expect(said).toContain(user.fileOf(NAME));
  assert.deepEqual(user.copies, []);
  assert.deepEqual(readFileSync(user.fileOf(NAME)), before);
  expect(await user.ok("ls", "--json")).toContain(ID);
  expect(await user.ok("guard", "--once")).toContain("1 session not copied: removed");
  appendFileSync(user.fileOf(NAME), promptLine("and more"));
  await user.ok("guard", "--once");
  assert.deepEqual(user.copies, []);
  expect(await user.ok("guard", "status")).toContain("0 sessions kept, 0 only here");
  const [status] = jsonLines(await user.ok("guard", "status", "--json"));
  assert.deepEqual([status?.sessions, status?.removed], [0, 1]);
  const again = await user.run(["rm", NAME]);
  expect([again.code, again.stderr]).toEqual([7, expect.stringContaining(user.fileOf(NAME))]);
});

function promptLine(text: string): string {
  return `${JSON.stringify(promptRow(text, { session: NAME, at: AT }))}\n`;
}

test("a restored copy is whole, has its time, and is continued by the guard", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once", "--sign");
  const before = user.copies;
  await user.ok("rm", NAME);
  const refused = await user.run(["rm", "--release", NAME]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("RESTORE_REFUSED")]);
  await user.ok("restore", NAME.slice(0, 8));
  assert.deepEqual(user.copies, before);
  expect(await user.ok("guard", "--verify")).toContain("1 generation read, 1 signed and verified");
  appendFileSync(user.fileOf(NAME), promptLine("and more"));
  await user.ok("guard", "--once", "--sign");
  rmSync(user.fileOf(NAME));
  await user.ok("rm", NAME);
  await user.ok("restore", NAME);
  await user.ok("restore", NAME);
  expect(readFileSync(user.fileOf(NAME), "utf8")).toContain("and more");
});

test("a purged copy leaves no byte; --release lets the guard copy the session again", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once", "--sign");
  writeFileSync(user.fileOf(NAME), promptLine(`rewritten ${VALUE}`));
  await user.ok("guard", "--once", "--sign");
  assert.equal(user.copies.length, 2);
  const said = await user.ok("rm", NAME, "--purge", "--yes");
  expect(said).toContain(`until \`verbatim rm --release ${NAME}\``);
  assert.deepEqual(holding(user.store, VALUE), []);
  expect(await user.ok("rm", "--release", NAME)).toContain("released");
  expect(await user.ok("rm", "--release", NAME)).toContain("not held");
  await user.ok("guard", "--once", "--sign");
  assert.equal(user.copies.length, 1);
  await user.ok("guard", "--verify");
  expect(user.events).toEqual(
    expect.arrayContaining(["guarding", "source_rewritten", "removed", "released"]),
  );
});

test("of a session that its agent deleted, nothing is left in lists, indexes and files", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  await user.ok("ls");
  await user.ok("search", VALUE);
  rmSync(user.fileOf(NAME));
  await user.ok("guard", "--once");
  await user.ok("search", VALUE);
  const said = await user.ok("rm", NAME, "--purge", "--yes");
  expect(said).toContain("its agent's own file is gone");
  assert.deepEqual(holding(user.home, VALUE), []);
  assert.equal((await user.run(["search", VALUE])).code, 1);
  assert.equal((await user.run(["restore", NAME])).code, 7);
});

test("a copy in the trash is purged by the beginning of its name, and its agent's file stays", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  await user.ok("rm", NAME);
  assert.equal(holding(user.store, VALUE).length, 1);
  await user.ok("rm", NAME.slice(0, 8), "--purge", "--yes");
  assert.deepEqual(holding(user.store, VALUE), []);
  assert.ok(existsSync(user.fileOf(NAME)));
});

test("all files of a compressed copy and of versions go", async () => {
  const user = new GuardUser();
  await user.ok("guard", "--once");
  const [root = ""] = readdirSync(user.store);
  const folder = join(user.store, root, "projects/-home-me-app");
  for (const ending of ["1.gz", "1.gz.tmp", "versions", "2.checkpoints"]) {
    writeFileSync(join(folder, `${NAME}.jsonl.${ending}`), VALUE);
  }
  const others = [`${NAME}.jsonl.bak`, `${NAME}x.jsonl.1`];
  for (const name of others) writeFileSync(join(folder, name), "another's");
  await user.ok("rm", NAME, "--purge", "--yes");
  assert.deepEqual(readdirSync(folder).sort(), others.sort());
});

test("while a guard is at work the copy stays, and the refusal says what to do", async () => {
  const user = new GuardUser();
  const guard = user.start(["guard"]);
  await until(() => existsSync(user.store) && user.copies.length === 1);
  const refused = await user.run(["rm", NAME]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("LOG_LOCKED")]);
  expect(refused.stderr).toContain("`verbatim guard uninstall`");
  assert.equal(user.copies.length, 1);
  guard.signal("SIGTERM");
  await guard.exitCode();
  await user.ok("rm", NAME);
  assert.deepEqual(user.copies, []);
});

test("rules mean all copies of the guard, and leave what only agents have", async () => {
  const user = new GuardUser();
  const other = "6f1c2d3e-2000-4000-8000-000000000000";
  await user.ok("guard", "--once");
  user.write(other);
  const dry = await user.run(["rm", "--older-than", "30d", "--dry-run"]);
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining(`${ID} would be removed`)]);
  expect(dry.stderr).toContain("1 session would be removed to the trash");
  assert.equal(user.copies.length, 1);
  const ruled = await user.run(["rm", "--agent", "claude", "--older-than", "30d", "--yes"]);
  expect([ruled.code, ruled.stderr]).toEqual([0, expect.stringContaining("1 left, which only")]);
  assert.deepEqual(user.copies, []);
  assert.ok(existsSync(user.fileOf(NAME)) && existsSync(user.fileOf(other)));
});

test("a session without a copy is refused, and its file is named", async () => {
  const user = new GuardUser();
  const refused = await user.run(["rm", NAME]);
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining("REMOVAL_REFUSED")]);
  expect(refused.stderr).toContain(user.fileOf(NAME));
});
