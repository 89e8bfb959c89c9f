/** What a server received, on the machine of the server: read by the commands, by machine and user. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openHistory } from "../../src/doors/history.ts";
import { until } from "../support/until.ts";
import { asLines, CliUser, jsonLines } from "./cli.ts";

const KEY = "AKIAIOSFODNN7EXAMPLF";
interface Sender {
  readonly machine: string;
  readonly user: string;
}

const nameOf = ({ machine, user }: Sender) => `${user}@${machine}`;
const SENDERS = ["ada@desk", "ada@laptop", "ben@laptop"];

/** A server's user, after three machines sent a session each to the folder `team`. */
async function received() {
  const user = new CliUser();
  const data = join(user.cwd, "data");
  const running = user.start(["serve", "--port", "0", "--data", data]);
  const [url] = /http:\S+/.exec((await running.line()) ?? "") ?? assert.fail(running.stderr);
  for (const VERBATIM_SENDER of SENDERS) {
    const input = asLines(
      { kind: "message", role: "user", parts: [{ type: "text", text: `Crack it with ${KEY}` }] },
      {
        kind: "message",
        role: "assistant",
        model: "claude-opus-4-5",
        parts: [{ type: "text", text: "cracked" }],
        usage: { inputTokens: 12, outputTokens: 34, totalTokens: 46, spend: null },
      },
    );
    const args = ["record", "--session", "s1", "--to", `${url}/team`];
    const ran = await new CliUser().run(args, { input, env: { VERBATIM_SENDER } });
    assert.equal(ran.code, 0, ran.stderr);
  }
  const run = async (...args: string[]) => user.run([...args, "--root", data]);
  const listed = async (...args: string[]) => {
    const lines = jsonLines((await run("ls", "--json", ...args)).stdout);
    return lines.map(({ sender }) => nameOf(sender as Sender)).sort();
  };
  const isThere = async () => String(await listed()) === String(SENDERS);
  await until(isThere, "the server has copied all that it received");
  return { data, run, listed };
}

test("ls, search, show and scan read what a server received, by machine and user", async () => {
  const { data, run, listed } = await received();
  assert.deepEqual(await listed("--machine", "laptop"), ["ada@laptop", "ben@laptop"]);
  assert.deepEqual(await listed("--user", "ada"), ["ada@desk", "ada@laptop"]);
  assert.deepEqual(await listed("--user", "ada", "--machine", "laptop"), ["ada@laptop"]);
  const other = await run("ls", "--machine", "lap");
  const reason = "no sessions of the machine lap; sessions have these machines: desk, laptop\n";
  assert.deepEqual([other.stdout, other.stderr], ["", reason]);
  const [first] = jsonLines((await run("ls", "--json", "--user", "ben")).stdout);
  assert.deepEqual(first?.sender, { machine: "laptop", user: "ben" });
  const { stdout } = await run("ls");
  assert.match(stdout, /^ID .* FROM /);
  for (const sender of SENDERS) assert.ok(stdout.includes(` ${sender} `));
  const path = String(first?.path);
  assert.match((await run("show", path)).stdout, /cracked/);
  const hits = jsonLines((await run("search", "cracked", "--user", "ben", "--json")).stdout);
  assert.deepEqual(
    hits.map((hit) => hit.root),
    [first?.root],
  );
  const scanned = await run("scan", "--all");
  assert.match(scanned.stdout + scanned.stderr, /in 3 of 3 sessions/);
  assert.match((await run("scan", "--machine", "desk")).stderr, /in 1 of 1 sessions?/);
  const history = openHistory({ roots: [data] });
  const paths: string[] = [];
  for await (const session of history.sessions({ user: "ben" })) paths.push(session.path);
  assert.deepEqual(paths, [path]);
});

test("usage counts by the machine and the user that sent sessions, also as a table", async () => {
  const { data, run } = await received();
  const csv = async (report: string, ...args: string[]) => {
    const { stdout } = await run("usage", report, "--csv", ...args);
    const [, ...rows] = stdout.trimEnd().split("\n");
    return rows.map((row) => `${row.split(",")[0]} ${row.split(",")[10]}`).sort();
  };
  assert.deepEqual(await csv("machine"), ["desk 46", "laptop 92"]);
  assert.deepEqual(await csv("user"), ["ada 92", "ben 46"]);
  assert.deepEqual(await csv("user", "--machine", "laptop"), ["ada 46", "ben 46"]);
  assert.deepEqual(await csv("model", "--user", "ben"), ["claude-opus-4-5 46"]);
  const { groups } = await openHistory({ roots: [data] }).usage({ by: "machine", user: "ada" });
  assert.deepEqual(groups.map(({ key, total }) => `${key} ${total}`).sort(), [
    "desk 46",
    "laptop 46",
  ]);
});

test("no command changes the copies that a server keeps of what it received", async () => {
  const { data, run } = await received();
  const files = () => {
    const paths = readdirSync(join(data, ".received"), { recursive: true, encoding: "utf8" });
    const logs = paths.filter((path) => path.endsWith(".jsonl")).sort();
    return logs.map((path) => readFileSync(join(data, ".received", path), "utf8"));
  };
  const before = files();
  assert.equal(before.length, SENDERS.length);
  const [{ id = "" } = {}] = jsonLines((await run("ls", "--json")).stdout);
  const erased = await run("redact", String(id), "--in-place", "--match", KEY, "--reason", "test");
  assert.notEqual(erased.code, 0);
  const [{ path = "" } = {}] = jsonLines((await run("ls", "--json")).stdout);
  const removed = await run("rm", String(path), "--yes");
  assert.equal(removed.code, 7);
  assert.match(removed.stderr, /REMOVAL_REFUSED/);
  await run("rm", "--older-than", "0h", "--yes");
  await run("doctor", "--fix");
  assert.deepEqual(files(), before);
});
