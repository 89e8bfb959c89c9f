/** A command loads only the modules it needs, so that the command line starts fast. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { CliUser } from "./cli.ts";
import { event, putThread, putTurns } from "./stores.ts";

const hook = fileURLToPath(new URL("./loaded-modules.mjs", import.meta.url));

/** SQLite as one of these modules: a package, or Node's own. */
const SQLITE = /@photostructure|NativeModule sqlite/;

/** The paths of the modules that a command loads. */
async function loadedBy(
  user: CliUser,
  args: readonly string[],
  isFromSource = false,
): Promise<string[]> {
  const list = join(user.home, "loaded");
  if (existsSync(list)) rmSync(list);
  const env = { NODE_OPTIONS: `--import ${hook}`, LOADED_TO: list };
  const { code, stderr } = await user.run(args, { env, isFromSource });
  assert.equal(code, 0, stderr);
  return readFileSync(list, "utf8").split("\n");
}

test("only ls loads SQLite, and no reading command loads Zod", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1");
  putTurns(user, "cook/s1");
  const heavy = new RegExp(`/node_modules/zod/|${SQLITE.source}`);

  for (const args of [
    ["show", "hello-1"],
    ["show", "cook/s1"],
    ["export", "hello-1"],
    ["record", "--dialect", "homeagent", "--agent", "cook"],
  ]) {
    const loaded = await loadedBy(user, args);
    assert.deepEqual(
      loaded.filter((url) => heavy.test(url)),
      [],
      args.join(" "),
    );
  }
  const listing = await loadedBy(user, ["ls"]);
  expect(listing.some((url) => SQLITE.test(url))).toBe(true);
  assert.ok(!listing.some((url) => url.includes("/zod/")));
});

test("help loads no log reader, log writer, store or lock package (C1)", async () => {
  const loaded = await loadedBy(new CliUser(), ["show", "--help"], true);
  const ours = loaded.filter((url) =>
    /\/(log\/(reader|writer|lock)|base\/lock|(store|catalog)\/[a-z-]+)\.[jt]s$/.test(url),
  );
  // Readers of other programs' sessions. They load the database's driver when they need it.
  const small = /\/catalog\/(find|foreign-database|sqlite(-driver)?)\.ts$/;
  assert.deepEqual(
    ours.filter((url) => !small.test(url)),
    [],
  );
  assert.ok(!loaded.some((url) => SQLITE.test(url)));
  assert.ok(loaded.some((url) => url.endsWith("/src/cli/look/commands.ts")));
});

test("a listing without changes loads no code that reads sessions (LS1)", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", [event("thread_complete")]);
  const readers = async () => {
    const loaded = await loadedBy(user, ["ls", "--dialect", "rye"], true);
    return loaded.filter((url) =>
      /\/(log|store|signing)\/(reader|session|store|keys)\.ts$/.test(url),
    );
  };
  assert.ok((await readers()).length > 0);
  assert.deepEqual(await readers(), []);
});

test("a search, and a listing that reads a session, load at most ten of our files", async () => {
  assert.ok(isBuilt(), "dist is older than src: run `npm run build` first");
  const user = new CliUser();
  putTurns(user, "cook/s1");
  for (const args of [["search", "cook"], ["ls"]]) {
    putTurns(user, `cook/${args[0]}`);
    const loaded = await loadedBy(user, args);
    const ours = new Set(loaded.filter((url) => url.includes("/dist/cli/")));
    assert.ok(ours.size > 0 && ours.size <= 10, [...ours].join("\n"));
  }
});

test("starting loads none of Node's modules that take milliseconds", async () => {
  assert.ok(isBuilt(), "dist is older than src: run `npm run build` first");
  const user = new CliUser();
  const slow = /^NativeModule (crypto|zlib|child_process|perf_hooks)$/;
  const slowIn = async (args: readonly string[]) =>
    (await loadedBy(user, args)).filter((each) => slow.test(each));
  assert.deepEqual(await slowIn(["--version"]), []);
  assert.deepEqual(await slowIn(["keys", "init", "--help"]), []);
  assert.ok((await slowIn(["keys", "init"])).includes("NativeModule crypto"));
});
