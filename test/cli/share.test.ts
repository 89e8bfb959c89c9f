/** `verbatim share`: what a person and a script see. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacksPostgres, newDatabase, rowsIn } from "../support/postgres.ts";
import { CliUser, jsonLines } from "./cli.ts";

const ID = "hello-1739012630";
const SECRET = `ship it to 17 Mill Lane, please, before the end of the week: ${"z".repeat(40)}`;

async function recorded(): Promise<CliUser> {
  const user = new CliUser();
  const turns = ["good morning", SECRET, "mail ada@lovelace.org", "good night"].flatMap((text) => [
    { type: "step_start" },
    { type: "assistant_text", text },
  ]);
  const args = ["record", "--dialect", "rye", "--directive", "hello", "--session", ID, "--sign"];
  const input = turns.map((turn) => `${JSON.stringify(turn)}\n`).join("");
  assert.equal((await user.run(args, { input })).code, 0);
  mkdirSync(join(user.cwd, "data"));
  return user;
}

test("a link is printed once, listed without its token, and revoked for good", async () => {
  const user = await recorded();
  const share = (...args: string[]) => user.run(["share", ...args, "--data", "data"]);
  const folder = join(user.cwd, "data/.shares");
  const asked = await share(ID);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("add --yes")]);
  expect((await share("ls")).stderr).toContain("there are no shares");
  const mistyped = await share(ID, "--match", "17 Mil Lane", "--yes");
  expect(mistyped.stderr).toContain("error: --match number 1 was not found");
  expect([mistyped.code, mistyped.stdout]).toEqual([1, ""]);
  expect((await share("ls")).stderr).toContain("there are no shares");

  const made = await share(ID, "--match", "17 Mill Lane", "--expires", "2h", "--yes");
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(/^http:\/\/127\.0\.0\.1:4437\/#\/share\/vbs_[\w-]{22}\n$/);
  expect(made.stderr).toMatch(/line \d+: a string, \d+ bytes \(match\)/);
  expect(made.stderr).not.toContain("warning: --match");
  expect(made.stderr).toMatch(/line \d+: the whole line, \d+ bytes \(email\)/);
  const [copy = ""] = readdirSync(folder).filter((name) => name.endsWith(".vbd"));
  const text = readFileSync(join(folder, copy), "utf8");
  assert.ok(text.includes("good night") && !/Mill Lane|lovelace/.test(text));
  const token = made.stdout.trim().split("/").at(-1) ?? "";
  assert.ok(!readFileSync(join(folder, "shares.json"), "utf8").includes(token));

  const [listed] = jsonLines((await share("ls", "--json")).stdout) as [{ id: string }];
  expect(listed).toMatchObject({ session: ID, rules: ["default", "match"], state: "valid" });
  const revoked = await share("revoke", listed.id);
  expect([revoked.code, revoked.stderr]).toEqual([0, expect.stringContaining("revoked: ")]);
  expect(readdirSync(folder).filter((name) => name.endsWith(".vbd"))).toEqual([]);
  expect((await share("ls")).stdout).toContain("revoked");
});

test("a session without signatures is shared masked, and the command says how it could be signed", async () => {
  const user = new CliUser();
  const input = `${JSON.stringify({ kind: "message", role: "user", parts: [{ type: "text", text: "mail ada@lovelace.org" }] })}\n`;
  expect((await user.run(["record", "--session", "notes"], { input })).code).toBe(0);
  mkdirSync(join(user.cwd, "data"));
  const { code, stderr, stdout } = await user.run(["share", "notes", "--yes", "--data", "data"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("/#/share/vbs_")]);
  expect(stderr).toContain("not provable: notes is not signed, so the link shows a masked copy");
  expect(stderr).toContain("sign it first: verbatim doctor --fix --vouch notes");
  expect(stderr).toContain("0 of 1 lines in full, 1 string masked");
  const live = await user.run(["share", "notes", "--live", "--yes", "--data", "data"]);
  expect([live.code, live.stdout]).toEqual([expect.any(Number), ""]);
  expect(live.code).not.toBe(0);
  expect(live.stderr).toContain("error: notes cannot be shared live: it is not signed");
  expect(live.stderr).toContain("leave out --live to share it masked");
  expect((await user.run(["share", "ls", "--data", "data"])).stdout.match(/valid/g)).toHaveLength(
    1,
  );
  const vouched = await user.run(["doctor", "--fix", "--vouch", "notes", "--yes"]);
  expect(vouched.code).toBe(0);
  const args = ["share", "notes", "--yes", "--data", "data", "--json"];
  expect(jsonLines((await user.run(args)).stdout)[0]).toMatchObject({ kind: "disclosed" });
});

test("an erasure revokes the shares that show what is erased, and no others", async () => {
  const user = await recorded();
  const { shared, erase, states } = sharing(user);
  const showing = await shared("--redact", "none");
  const without = await shared("--match", "17 Mill Lane");
  const dry = await erase("--match", "17 Mill Lane", "--dry-run");
  expect(dry.stderr).toContain(", and revoke 1 share");
  expect(await states()).toEqual([
    [showing, "valid"],
    [without, "valid"],
  ]);
  const { code, stdout, stderr } = await erase("--match", "17 Mill Lane", "--yes", "--json");
  expect([code, stderr]).toEqual([0, expect.stringContaining(`share ${showing} shows it`)]);
  expect(jsonLines(stdout)[0]).toMatchObject({ revoked: [showing] });
  expect(await states()).toEqual([
    [showing, "revoked"],
    [without, "valid"],
  ]);
});

test("an erasure by number revokes all shares of the session: none can be looked through", async () => {
  const { shared, erase, states } = sharing(await recorded());
  const id = await shared("--match", "17 Mill Lane");
  const { stderr } = await erase("--entry", "1", "--yes");
  expect([stderr, await states()]).toEqual([expect.anything(), [[id, "revoked"]]]);
});

/** Shares in the user's own data directory. */
function sharing(user: CliUser) {
  mkdirSync(join(user.home, ".local/share/verbatim"), { recursive: true, mode: 0o700 });
  return {
    async shared(...args: string[]): Promise<unknown> {
      const { code, stdout, stderr } = await user.run(["share", ID, "--json", "--yes", ...args]);
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      return jsonLines(stdout)[0]?.id;
    },
    erase: (...args: string[]) =>
      user.run(["redact", ID, "--in-place", "--reason", "private", ...args]),
    async states() {
      const { stdout } = await user.run(["share", "ls", "--json"]);
      return jsonLines(stdout).map((share) => [share?.id, share?.state]);
    },
  };
}

test("a data directory that does not exist is not created, and one without a server is reported", async () => {
  const user = await recorded();
  const share = (data: string) => user.run(["share", ID, "--yes", "--data", data]);
  const missing = await share("other");
  expect([missing.code, missing.stdout]).toEqual([2, ""]);
  expect(missing.stderr).toContain(`there is no data directory ${join(user.cwd, "other")}`);
  assert.ok(!existsSync(join(user.cwd, "other")));
  const data = join(user.cwd, "data");
  const said = `no server runs on ${data}: the link works once \`verbatim serve --data ${data}\` does`;
  const alone = await share("data");
  expect([alone.code, alone.stderr]).toEqual([0, expect.stringContaining(said)]);
  const running = user.start(["serve", "--port", "0", "--data", "data"]);
  while (!(await running.line())?.includes("/open?key=")); // Then it has the directory open.
  const served = await share("data");
  expect(served.code).toBe(0);
  expect(served.stderr).not.toContain("no server runs");
});

test.skipIf(lacksPostgres)(
  "with --store, shares are in the database and not in files",
  async () => {
    const user = await recorded();
    const url = await newDatabase();
    const share = (...args: string[]) => user.run(["share", ...args, "--store", url]);
    const made = await share(ID, "--match", "17 Mill Lane", "--yes");
    expect(made.code, made.stderr).toBe(0);
    expect(made.stdout).toMatch(/#\/share\/vbs_[\w-]{22}\n$/);
    const parts = "SELECT convert_from(bytes, 'UTF8') AS text FROM verbatim.share_parts";
    const [copy] = await rowsIn(url, parts);
    assert.match(String(copy?.text), /good night/);
    assert.doesNotMatch(String(copy?.text), /Mill Lane|lovelace/);
    const [listed] = jsonLines((await share("ls", "--json")).stdout) as [{ id: string }];
    expect(listed).toMatchObject({ session: ID, rules: ["default", "match"], state: "valid" });
    expect((await user.run(["share", "ls"])).stderr).toContain("there are no shares");
    expect((await share("revoke", listed.id)).stderr).toContain("revoked: ");
    expect((await share("revoke", "ffffffff")).code).toBe(7);
    expect((await share("ls")).stdout).toContain("revoked");
    expect(await rowsIn(url, parts)).toEqual([]);
  },
);

test.each([
  [["share"], 2],
  [["share", ID, "--store", "mysql://db/x", "--yes"], 2],
  [["share", "revoke"], 2],
  [["share", "revoke", "ffffffff"], 7],
  [["share", ID, "more"], 2],
  [["share", ID, "--delay", "1"], 2],
  [["share", ID, "--expires", "yesterday"], 2],
  [["share", ID, "--expires", "9999d", "--yes"], 7],
  [["share", ID, "--url", "logs"], 2],
  [["share", ID, "--redact", "nothing-like-it", "--yes"], 2],
])("%j is refused, and leaves no share", async (args, code) => {
  const user = await recorded();
  const ran = await user.run([...args, "--data", "data"]);
  assert.equal(ran.stdout, "");
  assert.equal(ran.code, code, ran.stderr);
  const { stdout } = await user.run(["share", "ls", "--json", "--data", "data"]);
  assert.equal(stdout, "");
});
