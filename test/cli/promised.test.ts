/**
 * What scripts may rely on (docs/compatibility.md). promised.json has the fields and types of each
 * command's `--json`, the commands' options and the HTTP routes. Add new ones with
 * UPDATE_PROMISED=1; never remove one.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { runnable } from "../../src/cli/commands.ts";
import { openApiDocument } from "../../src/server/openapi/document.ts";
import { answerRow, callOf, promptRow, writeClaude } from "../support/agent-home.ts";
import { CliUser, jsonLines, root } from "./cli.ts";

type Shape = string | { readonly [field: string]: Shape } | readonly Shape[];

const table = new URL("promised.json", import.meta.url);
const ID = "hello-1739012630";
const AGENT = "6f1c2d3e-1000-4000-8000-000000000000";
const NOTE = JSON.stringify({
  kind: "message",
  role: "user",
  parts: [{ type: "text", text: "x" }],
});
const LONG = `ship it to 17 Mill Lane, ${"please ".repeat(20)}`;
/** The golden files hold these, value by value. */
const IN_GOLDEN = ["doctor", "resume", "serve", "show", "verify"];

/** Compares with the table. */
function stays(part: string, found: Readonly<Record<string, Shape>>): void {
  const held = JSON.parse(readFileSync(table, "utf8")) as Record<string, object>;
  if (process.env.UPDATE_PROMISED === "1") {
    const parts = Object.entries({ ...held, [part]: found }).map(([name, of]) => {
      const lines = Object.entries(of).map((row) => row.map((it) => JSON.stringify(it)).join(": "));
      return `${JSON.stringify(name)}: {\n${lines.join(",\n")}\n}`;
    });
    writeFileSync(table, `{\n${parts.join(",\n")}\n}\n`);
  } else assert.deepEqual(found, held[part]);
}

/** The fields of all values together, and the types of each. `?`: some values lack it. */
function shapeOf(values: readonly unknown[]): Shape {
  if (values.length > 0 && values.every(Array.isArray)) return [shapeOf(values.flat())];
  const objects = values.filter((each): each is Record<string, unknown> => {
    return typeof each === "object" && each !== null && !Array.isArray(each);
  });
  if (objects.length === 0 || objects.length < values.length) {
    return [...new Set(values.map((each) => (each === null ? "null" : typeof each)))].sort().join();
  }
  const fields = [...new Set(objects.flatMap(Object.keys))].sort();
  return Object.fromEntries(
    fields.map((field) => {
      const having = objects.filter((each) => field in each);
      const name = having.length < objects.length ? `${field}?` : field;
      return [name, shapeOf(having.map((each) => each[field]))];
    }),
  );
}

/** A signed session of ours, and one of Claude Code with costs and a key in its text. */
async function recorded(): Promise<CliUser> {
  const user = new CliUser();
  const entries = [
    { type: "step_start" },
    { type: "user_message", text: "mail ada@lovelace.org" },
    { type: "assistant_text", text: LONG },
    { type: "step_start" },
    { type: "thread_complete", cost: { turns: 2, tokens: 10, spend: 0.5 } },
  ];
  const input = entries.map((each) => `${JSON.stringify(each)}\n`).join("");
  const args = ["record", "--dialect", "rye", "--directive", "hello", "--session", ID, "--sign"];
  assert.equal((await user.run(args, { input })).code, 0);
  const at = Date.now() - 2000;
  const placed = { session: AGENT, at };
  writeClaude(user.home, `-home-me-app/${AGENT}.jsonl`, [
    promptRow("Where is ada@lovelace.org?", placed),
    answerRow("m1", { ...placed, content: [{ type: "text", text: "Here" }, callOf("c1")] }),
    answerRow("m2", { ...placed, at: at + 1000 }),
  ]);
  return user;
}

test("--json of every command has the fields and types that it had", async () => {
  const user = await recorded();
  const found: Record<string, Shape> = {};
  const run = async (command: string, ...args: string[]) => {
    const { code, stdout, stderr } = await user.run([...command.split(" "), ...args, "--json"]);
    assert.ok([0, 1].includes(code ?? -1) && stdout !== "", `${command}: ${code} ${stderr}`);
    const lines = jsonLines(stdout);
    found[command] = shapeOf(lines);
    return lines;
  };
  await run("ls", "--all");
  await run("agents");
  await run("search", "here");
  await run("scan", "--all");
  await run("usage");
  for (const report of [
    "daily",
    "weekly",
    "monthly",
    "session",
    "project",
    "model",
    "agent",
    "directive",
  ]) {
    await run(`usage ${report}`);
  }
  await run("usage blocks");
  await run("usage --explain", AGENT);
  await run("redact prove", ID, "--entry", "3", "-o", "a.vbp");
  await run("redact", ID, "--match", "17 Mill", "--reason", "r", "-o", "a.vbd", "--yes");
  mkdirSync(join(user.home, ".local/share/verbatim"), { recursive: true });
  const [share] = await run("share", ID, "--yes");
  await run("share ls");
  await run("share revoke", String(share?.id));
  await run("export --format bundle", ID, "--output", "a.vbx");
  await run("import", "a.vbx", "--root", "other", "--dialect", "entire");
  await run("guard", "--once");
  await run("guard --verify");
  await run("guard status");
  rmSync(join(user.home, `.claude/projects/-home-me-app/${AGENT}.jsonl`));
  await run("restore", AGENT);
  await user.run(["record", "--session", "old"], { input: `${NOTE}\n` });
  await run("rm", "old");
  await run("keys head show");
  await run("keys init");
  await run("keys ls");
  await run("keys show");
  await run("keys rotate");
  const pem = join(user.home, "old.pem");
  await user.run(["keys", "export", pem, "--private"]);
  await run("keys import", pem, "--as", "current");
  await run("keys trust ls");
  cpSync(join(root, "test/golden/corpus/data"), join(user.cwd, "data"), { recursive: true });
  const [token] = await run(
    "server token create",
    "--data",
    "data",
    "--expires",
    "30d",
    "--name",
    "n",
  );
  await run("server token ls", "--data", "data");
  const [rotated] = await run("server token rotate", String(token?.id), "--data", "data");
  await run("server token revoke", String(rotated?.id), "--data", "data");
  await run("server backup", "backup", "--data", "data");
  await run("server copy", "--from", "backup", "--to", "copy");
  await run("guard send", "--to", "http://127.0.0.1:1/x");

  const withJson = runnable().filter(({ command: { options } }) => {
    return options.some(({ flags }) => flags === "--json");
  });
  const held = new Set([...Object.keys(found).map((name) => name.split(" --")[0]), ...IN_GOLDEN]);
  assert.deepEqual(
    withJson.map(({ names }) => names).filter((names) => !held.has(names)),
    [],
  );
  stays("json", found);
});

test("commands, options and routes stay", async () => {
  const flagsOf = runnable().map(({ names, command: { options } }) => [
    names,
    options.map(({ flags }) => flags.split(/ [<[]/)[0]).sort(),
  ]);
  stays("options", Object.fromEntries(flagsOf));
  const routes = Object.entries((await openApiDocument()).paths);
  stays("routes", Object.fromEntries(routes.map(([path, of]) => [path, Object.keys(of).sort()])));
});
