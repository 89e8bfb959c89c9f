import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { repositoryName, repositoryOf } from "./project.ts";

test("of a remote's URL, only owner and name are kept: never a password", () => {
  for (const [url, name] of [
    ["git@example.org:acme/shop.git", "acme/shop"],
    ["https://me:s3cret@example.org/acme/shop", "acme/shop"],
    ["ssh://git@example.org:22/deep/acme/shop.git/", "acme/shop"],
    ["/srv/git/shop.git", "shop"],
    ["file:///srv/shop", "shop"],
    ["https://token@example.org", null],
    ["<img src=x>", null],
    ["", null],
  ] as const) {
    assert.equal(repositoryName(url), name, url);
  }
});

test("a directory has the repository of its git remote, also in a worktree", () => {
  const root = tempDirectory();
  mkdirSync(join(root, "shop/.git/worktrees/w"), { recursive: true });
  mkdirSync(join(root, "shop/src/deep"), { recursive: true });
  mkdirSync(join(root, "w"));
  const config =
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@example.org:acme/shop.git\n';
  writeFileSync(join(root, "shop/.git/config"), config);
  writeFileSync(join(root, "shop/.git/worktrees/w/commondir"), "../..\n");
  writeFileSync(join(root, "w/.git"), `gitdir: ${join(root, "shop/.git/worktrees/w")}\n`);
  for (const place of ["shop", "shop/src/deep", "w", "shop/gone"]) {
    assert.equal(repositoryOf(join(root, place)), "acme/shop", place);
  }
  mkdirSync(join(root, "odd"));
  symlinkSync(join(root, "shop/.git"), join(root, "odd/.git"));
  for (const place of [join(root, "odd"), "relative", ""]) assert.equal(repositoryOf(place), null);
});
