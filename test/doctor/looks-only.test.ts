/** Doctor only reads: nothing it examines is changed. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "vitest";
import { CliUser } from "../cli/cli.ts";
import { diskTest, SmallDisk } from "../crash/small-disk.ts";
import { codes, findingsIn, nodeDoctor } from "../support/examining.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { treeAt } from "../support/tree.ts";
import { WatchedFiles } from "../support/watched-files.ts";
import { makeSickStore, SICK_CODES } from "./sick-store.ts";

test("doctor on a store with every fault changes no name, byte, time or permission", async () => {
  const user = await sickUser();
  const before = [treeAt(user.cwd), treeAt(user.home)];
  const { code, stdout, stderr } = await user.run(["doctor", "--json"]);
  assert.equal(code, 1, stderr);
  assert.deepEqual([treeAt(user.cwd), treeAt(user.home)], before);
  const told = new Set(
    stdout.split("\n").flatMap((line) => /"code":"(\w+)"/.exec(line)?.[1] ?? []),
  );
  assert.deepEqual([...told].sort(), SICK_CODES);
});

test("doctor opens files only to read, and makes no call that writes", async () => {
  const project = tempDirectory();
  await makeSickStore(project);
  const files = new WatchedFiles();
  await findingsIn(project, "rye", { ...nodeDoctor, host: { ...nodeDoctor.host, files } });
  const others = files.calls.filter(({ call, mode }) =>
    call === "open" ? mode !== "read" : call !== "read" && call !== "close",
  );
  assert.deepEqual(others, []);
});

test("a dry run of repair writes nothing either", async () => {
  const user = await sickUser();
  const before = [treeAt(user.cwd), treeAt(user.home)];
  const { code, stdout } = await user.run(["doctor", "--fix", "--dry-run"]);
  assert.equal(code, 1);
  assert.match(stdout, /would mend warning TORN_TAIL/);
  assert.deepEqual([treeAt(user.cwd), treeAt(user.home)], before);
});

diskTest("a read-only disk is examined like any other", async () => {
  const disk = SmallDisk.mount();
  const { cwd } = await sickUser();
  const expected = codes(await findingsIn(cwd));
  spawnSync("cp", ["-a", `${cwd}/.`, disk.path]);
  assert.ok(expected.includes("TORN_TAIL"));
  const remounted = spawnSync("mount", ["-o", "remount,ro", disk.path]);
  assert.equal(remounted.status, 0, remounted.stderr.toString());
  assert.deepEqual(codes(await findingsIn(disk.path)), expected);
});

/**
 * A user whose store is a copy: SQLite keeps files that it wrote open for a while, then removes
 * some.
 */
async function sickUser(): Promise<CliUser> {
  const made = tempDirectory();
  await makeSickStore(made);
  const user = new CliUser();
  spawnSync("cp", ["-a", `${made}/.`, user.cwd]);
  return user;
}
