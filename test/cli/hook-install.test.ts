/** `verbatim hooks install | remove`, on the files that Claude Code and Codex read. */

import assert from "node:assert/strict";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { CliUser } from "./cli.ts";

test("hooks are installed for the user or the project, once, and removed without a trace", async () => {
  const user = new CliUser();
  const own = join(user.home, ".claude/settings.json");
  const places: [string, string[]][] = [
    [own, []],
    [join(user.cwd, ".claude/settings.json"), ["--project"]],
    [join(user.home, ".codex/hooks.json"), ["--for", "codex"]],
  ];
  for (const [path, more] of places) {
    for (const said of ["installed", "installed already"]) {
      const { code, stdout, stderr } = await user.run(["hooks", "install", ...more]);
      assert.deepEqual([code, stdout], [0, `${path}: hooks are ${said}\n`], stderr);
    }
    assert.match(readFileSync(path, "utf8"), /verbatim record --from (?:claude-code|codex)-hooks"/);
    assert.equal((await user.run(["hooks", "remove", ...more])).code, 0);
    assert.equal(readFileSync(path, "utf8"), "{}\n");
  }
  assert.equal(statSync(own).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(user.home, ".claude")), ["settings.json"]);
});

test("installing hooks for Codex says that `codex exec` skips them until they are reviewed", async () => {
  const user = new CliUser();
  const codex = await user.run(["hooks", "install", "--for", "codex"]);
  assert.match(
    codex.stderr,
    /`codex exec` .* skips hooks that were not reviewed, without a message/,
  );
  const claude = await user.run(["hooks", "install"]);
  assert.doesNotMatch(claude.stderr, /codex/i);
});

test("a command that the agent will not find is a warning, also if npx finds it", async () => {
  const user = new CliUser();
  const installed = async (directory: string, ...more: string[]) => {
    mkdirSync(join(user.home, directory), { recursive: true });
    writeFileSync(join(user.home, directory, "verbatim"), "");
    const env = { PATH: `${join(user.home, directory)}:${join(user.home, "none")}` };
    return (await user.run(["hooks", "install", ...more], { env })).stderr;
  };
  assert.match(await installed("node_modules/.bin"), /not in the PATH.*\n.*install --global/);
  assert.equal(await installed("node_modules/.bin", "--command", "/opt/verbatim"), "");
  assert.equal(await installed("bin"), "");
});

test("a linked settings file keeps the link and its mode, and settings of an unexpected shape are not changed", async () => {
  const user = new CliUser();
  const path = join(user.home, ".claude/settings.json");
  const kept = join(user.home, "dotfiles.json");
  mkdirSync(join(user.home, ".claude"));
  writeFileSync(kept, '{"model":"opus"}', { mode: 0o644 });
  symlinkSync(kept, path);
  assert.equal((await user.run(["hooks", "install", "--sign", "append"])).code, 0);
  assert.ok(lstatSync(path).isSymbolicLink());
  assert.equal(statSync(kept).mode & 0o777, 0o644);
  assert.match(readFileSync(kept, "utf8"), /--from claude-code-hooks --sign append"/);

  writeFileSync(kept, "{ // mine\n}");
  const { code, stderr } = await user.run(["hooks", "install"]);
  assert.equal(code, 2);
  assert.match(stderr, /was not changed: it is not JSON/);
  assert.equal(readFileSync(kept, "utf8"), "{ // mine\n}");
});
