/**
 * `verbatim keys head` on a session whose log lost signed lines, and on one whose files were altered.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser, jsonLines } from "./cli.ts";

/** Records turns into a session whose checkpoints are in a sidecar file. */
class BesideUser extends CliUser {
  readonly #record: readonly string[];
  readonly #native: (n: number) => object;
  readonly id: string;
  path = "";

  constructor(dialect: string, id: string, native: (n: number) => object, args: string[] = []) {
    super();
    this.id = id;
    const session = dialect === "homeagent" ? id.slice(id.indexOf("/") + 1) : id;
    this.#record = ["record", "--dialect", dialect, "--session", session, ...args];
    this.#native = native;
  }

  async record(n: number) {
    const args = [...this.#record, "--root", this.cwd, "--sign"];
    const ran = await this.run(args, { input: asLines(this.#native(n)) });
    this.path = String(jsonLines(ran.stdout)[0]?.path);
    return ran;
  }

  /** Removes the last lines of the log. */
  cut(lines: number): void {
    const text = readFileSync(this.path, "utf8")
      .split("\n")
      .slice(0, -1 - lines);
    writeFileSync(this.path, text.map((line) => `${line}\n`).join(""));
  }

  /** The verdict, and the finding behind it. */
  async verdict(): Promise<[unknown, unknown]> {
    const { stdout } = await this.run(["verify", "--root", this.cwd, "--json"]);
    const [report] = jsonLines(stdout) as { verdict: string; findings: { code: string }[] }[];
    return [report?.verdict, report?.findings[0]?.code];
  }

  head(...args: string[]) {
    return this.run(["keys", "head", ...args, "--root", this.cwd]);
  }

  get checkpoints(): Record<string, unknown>[] {
    return jsonLines(readFileSync(`${this.path}.checkpoints`, "utf8"));
  }
}

const SHORTER = ["rollback", "LOG_SHORTER_THAN_SIDECAR"];

const USERS: Readonly<Record<string, () => BesideUser>> = {
  homeagent: () =>
    new BesideUser(
      "homeagent",
      "kit/s1",
      (n) => ({ turnId: `u${n}`, role: "user", content: "hi", ts: 1_770_609_830_365 + n }),
      ["--agent", "kit"],
    ),
  claude: () => new BesideUser("claude", "app/6f1c", (n) => ({ type: "user", uuid: `u${n}` })),
};

for (const [name, userOf] of Object.entries(USERS)) {
  test(`a log shorter than its checkpoints cover can be continued after head accept (${name})`, async () => {
    const user = userOf();
    for (const n of [1, 2, 3]) assert.equal((await user.record(n)).code, 0);
    const signed = readFileSync(`${user.path}.checkpoints`, "utf8");
    user.cut(1);
    const log = readFileSync(user.path);
    assert.deepEqual(await user.verdict(), SHORTER);
    const newest = user.checkpoints.length - 1;
    const pin = await user.head("pin", user.id);
    assert.equal(pin.code, 6, pin.stderr);
    const lost = new RegExp(`${newest} of ${user.id} (?:is|are) lost`);
    expect(pin.stderr).toMatch(lost);
    assert.equal((await user.head("accept", user.id)).code, 2, "there is no terminal to ask at");
    assert.equal(readFileSync(`${user.path}.checkpoints`, "utf8"), signed);

    const accept = await user.head("accept", user.id, "--yes");
    assert.equal(accept.code, 0, accept.stderr);
    expect(accept.stderr).toMatch(lost);
    const kept = `${user.path}.checkpoints.torn-0`;
    expect(accept.stderr).toContain(kept);
    const left = readFileSync(`${user.path}.checkpoints`, "utf8");
    assert.equal(left + readFileSync(kept, "utf8"), signed, "nothing is deleted");
    assert.deepEqual(readFileSync(user.path), log);
    assert.deepEqual(await user.verdict(), ["verified", undefined]);

    const more = await user.record(4);
    assert.deepEqual([more.code, more.stderr], [0, ""]);
    assert.deepEqual(await user.verdict(), ["verified", undefined]);
    const stated = user.checkpoints.slice(left.split("\n").length - 1);
    expect(stated[0]?.payload).toMatchObject({ kind: "recovery", lost: { seq: newest } });
  });
}

test("a log shorter than its checkpoints cover can be accepted without a pin", async () => {
  const user = (USERS.homeagent as () => BesideUser)();
  for (const n of [1, 2, 3]) await user.record(n);
  truncateSync(user.path, readFileSync(user.path).lastIndexOf("\n") - 5);
  assert.equal((await user.head("forget", user.id)).code, 0);
  const pin = await user.head("pin", user.id);
  assert.equal(pin.code, 6);
  expect(pin.stderr).toMatch(/kit\/s1 was signed up to byte \d+ .* its log has lost some of that/);
  assert.equal((await user.head("accept", user.id, "--yes")).code, 0);
  assert.deepEqual(await user.verdict(), ["incomplete", "TORN_TAIL"]);
  assert.equal((await user.record(4)).code, 0);
});

test("a log that lost its first line is accepted back to its genesis, which covers no byte", async () => {
  const user = (USERS.homeagent as () => BesideUser)();
  await user.record(1);
  truncateSync(user.path, 3);
  assert.deepEqual(await user.verdict(), SHORTER);
  assert.equal((await user.head("accept", user.id, "--yes")).code, 0);
  assert.deepEqual(await user.verdict(), ["incomplete", "TORN_TAIL"]);
  assert.equal((await user.record(2)).code, 0);
});

test("head accept is refused while another process writes the session", async () => {
  const user = (USERS.homeagent as () => BesideUser)();
  for (const n of [1, 2]) await user.record(n);
  user.cut(1);
  const unsigned = ["record", "--dialect", "homeagent", "--agent", "kit", "--session", "s1"];
  const writer = user.start([...unsigned, "--root", user.cwd]);
  await writer.json();
  const accept = await user.head("accept", user.id, "--yes");
  assert.equal(accept.code, 7);
  expect(accept.stderr).toContain("LOG_LOCKED");
  assert.ok(!existsSync(`${user.path}.checkpoints.torn-0`));
  writer.endInput();
  await writer.exitCode();
  assert.equal((await user.head("accept", user.id, "--yes")).code, 0);
});

test("a session whose spilled file was altered is not pinned", async () => {
  const user = new CliUser();
  const row = { type: "user", message: { content: "x".repeat(9 * 1024 * 1024) } };
  const record = ["record", "--dialect", "entire", "--model", "m", "--sign"];
  const ran = await user.run(record, { input: asLines(row) });
  const { session, path } = jsonLines(ran.stdout)[0] as { session: string; path: string };
  const spill = readdirSync(dirname(path)).find((name) => name.endsWith(".spill")) ?? "";
  const bytes = readFileSync(join(dirname(path), spill));
  bytes[0] = 0x79;
  writeFileSync(join(dirname(path), spill), bytes);
  const { code, stderr } = await user.run(["keys", "head", "pin", session]);
  assert.equal(code, 1);
  expect(stderr).toContain(`${spill}, to which a signed line refers, is altered`);
});
