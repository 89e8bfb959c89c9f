/** Each sample of another program, ours and public: guarded, deleted and restored byte for byte. */

import assert from "node:assert/strict";
import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readGuardedRoot } from "../../src/dialects/files/guard-store.ts";
import { restore } from "../../src/guard/restore.ts";
import { CliUser } from "../cli/cli.ts";
import { GuardedUser } from "../support/guarding.ts";
import { copySamplesTo } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const shared = sharedFiles("samples");
const own = fileURLToPath(new URL("../samples", import.meta.url));

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(jsonl?|zst)$/.test(name))
    .filter((name) => lstatSync(join(folder, name)).isFile());
}

/** A folder of samples, and how many files it has at least. */
const FOLDERS = [
  ["our", own, 80],
  ...(shared.isThere ? ([["public", shared.path, 21]] as const) : []),
] as const;

/** The program whose folder of samples it is in, as a dialect that guards files. */
const DIALECT_OF: Readonly<Record<string, string>> = {
  gemini: "gemini-cli",
  "gemini-cli": "gemini-cli",
};

/** A path at which the dialect finds a session. */
function placeFor(dialect: string, name: string, number: number): string {
  const ending = name.endsWith(".jsonl") ? ".jsonl" : ".json";
  if (dialect === "gemini-cli") return `tmp/p/chats/session-${number}${ending}`;
  return `projects/-p/sample-${number}.jsonl`;
}

test.each(FOLDERS)(
  "each of %s samples is the same after guard and restore",
  async (_, at, least) => {
    const files = filesIn(at);
    assert.ok(files.length >= least);
    const users = new Map<string, GuardedUser>();
    const all = files.map((name, number) => {
      const folder = name.replace(/^more\//, "").split("/")[0] ?? "";
      // A file of a program without a place of its own here is guarded as a file that grows.
      const dialect = DIALECT_OF[folder] ?? "claude-code";
      const user = users.get(dialect) ?? new GuardedUser({ dialect });
      users.set(dialect, user);
      const path = placeFor(dialect, name, number);
      const bytes = readFileSync(join(at, name));
      user.write(path, bytes, 1_700_000_000_123);
      return { name, user, path, bytes, stats: lstatSync(user.pathOf(path)) };
    });
    for (const user of users.values()) {
      await user.pass();
      assert.deepEqual(user.warnings, []);
    }
    for (const { user, path } of all) rmSync(user.pathOf(path));
    for (const user of users.values()) await user.pass();
    for (const { name, user, path, bytes, stats } of all) {
      const root = readGuardedRoot(user.directory);
      assert.ok(root, name);
      const session = { root, kept: user.kept(path) };
      const restored = await restore(nodeHost, session, { exportTo: tempDirectory() });
      assert.ok(readFileSync(restored.path).equals(bytes), name);
      const after = lstatSync(restored.path);
      assert.equal(after.mode, stats.mode, name);
      assert.ok(Math.abs(after.mtimeMs - stats.mtimeMs) < 1, name);
    }
  },
);

test("what was just guarded lacks nothing of its sources, of every agent", async () => {
  const user = new CliUser();
  assert.ok(copySamplesTo(user.home).length >= 10);
  const guarded = await user.run(["guard", "--once"]);
  assert.deepEqual([guarded.code, guarded.stderr], [0, ""]);
  const { code, stdout } = await user.run(["guard", "--verify"]);
  assert.match(stdout, /^\d+ generations read, 0 signed and verified, 0 problems\n$/);
  assert.equal(code, 0);
});
