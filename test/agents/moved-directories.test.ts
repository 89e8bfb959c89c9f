/**
 * An agent's directory of sessions that was moved to another disk, with a link in its place.
 *
 * Method: the samples of every agent are listed, shown and guarded in the agent's own place, then
 * moved, and everything is compared.
 */

import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { programOf } from "../../src/dialects/registry.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { putClaude } from "./claude-files.ts";

const SAMPLES = "test/samples";
/** Each with its directory of sessions. OpenCode's and Goose's are databases. */
const AGENTS = [
  ["claude-code", "projects"],
  ["qwen", "projects"],
  ["grok", "sessions"],
  ["gemini-cli", "tmp"],
  ["codex", "sessions"],
  ["copilot-cli", "session-state"],
  ["pi", "sessions"],
  ["droid", "sessions"],
  ["kimi", "sessions"],
  ["antigravity", "brain"],
  ["openclaw", "agents"],
  ["cursor", "projects"],
] as const;

/** The directory is moved away, and a link is left. */
function move(path: string): string {
  const moved = join(tempDirectory(), "moved");
  renameSync(path, moved);
  symlinkSync(moved, path);
  return moved;
}

async function ok(user: CliUser, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await user.run(args);
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
}

test.each(AGENTS)("the sessions of %s are read when %s is a link", async (agent, name) => {
  const user = new CliUser();
  const [version = ""] = readdirSync(join(SAMPLES, agent));
  const environment = {};
  const place = { environment, home: user.home, platform: "linux" } as const;
  const [root = ""] = programOf(agent)?.roots(place) ?? [];
  cpSync(join(SAMPLES, agent, version), root, { recursive: true });

  const listed = await ok(user, "ls", "--json");
  const ids = jsonLines(listed).map(({ id }) => String(id));
  assert.ok(ids.length > 0);
  const shown = await Promise.all(ids.map((id) => ok(user, "show", id, "--dialect", agent)));

  move(join(root, name));
  assert.equal(await ok(user, "ls", "--json"), listed);
  for (const [at, id] of ids.entries()) {
    assert.equal(await ok(user, "show", id, "--dialect", agent), shown[at]);
  }
  await ok(user, "guard", "--once");
  await ok(user, "guard", "--verify");
});

const ID = "6f1c2d3e-1000-4000-8000-000000000001";

test("a deleted session is restored into the moved directory", async () => {
  const user = new CliUser();
  const path = putClaude(user.home, { id: ID, prompt: "Fix the zebra", answer: "Fixed." });
  const bytes = readFileSync(path);
  move(join(user.home, ".claude/projects"));
  await ok(user, "guard", "--once");
  rmSync(path);
  await ok(user, "restore", ID);
  assert.deepEqual(readFileSync(path), bytes);
});

test("a link inside of a moved directory is refused, and so is one below a root named by hand", async () => {
  const user = new CliUser();
  const path = putClaude(user.home, { id: ID, prompt: "Fix the zebra", answer: "Fixed." });
  move(join(user.home, ".claude/projects"));
  move(dirname(path));
  const inside = await user.run(["ls", "--json"]);
  assert.equal(inside.stdout, "");
  expect(inside.stderr).toMatch(/symbolic link/);

  const other = join(tempDirectory(), ".claude");
  mkdirSync(other);
  const elsewhere = new CliUser();
  putClaude(elsewhere.home, { id: ID, prompt: "Fix the zebra", answer: "Fixed." });
  symlinkSync(join(elsewhere.home, ".claude/projects"), join(other, "projects"));
  const named = await user.run(["ls", "--root", other, "--json"]);
  assert.equal(named.stdout, "");
});
