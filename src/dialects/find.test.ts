import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import {
  FIND_DEPTH_MAX,
  findLogs,
  type LevelLayout,
  type NamedLayout,
  type Unreadable,
} from "./find.ts";

/** As rye has it. */
const named: NamedLayout = {
  under: [".ai", "threads"],
  logName: "log.jsonl",
  idAt: (path) => (path.at(-1) === "log.jsonl" ? path.slice(2, -1).join("/") : null),
};

/** As homeagent has it. */
const level: LevelLayout = {
  under: ["agents"],
  levels: [null, "sessions"],
  isLog: (name) => name.endsWith(".jsonl"),
  idAt: ([, agent, , name]) => (name?.startsWith("bad") ? null : `${agent}/${name?.slice(0, -6)}`),
};

function put(root: string, path: string, content = "{}\n"): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

function ids(root: string, layout: NamedLayout | LevelLayout): string[] {
  const counted = findLogs(root, layout);
  const listed = findLogs(root, layout, { byLinkCount: false });
  assert.deepEqual(counted, listed, "found with link counts and without");
  return counted.map(({ id }) => id).sort();
}

test("a log is found with its path, its size and when it last changed", () => {
  const root = tempDirectory();
  const file = put(root, ".ai/threads/a/log.jsonl", "12345\n");
  utimesSync(file, 1, 1_731_650_000.125);

  assert.deepEqual(findLogs(root, named), [
    { id: "a", path: ".ai/threads/a/log.jsonl", size: 6, mtimeMs: 1_731_650_000_125 },
  ]);
});

test("logs with one name are found at any depth, inside another session's directory too", () => {
  const root = tempDirectory();
  for (const id of ["a", "b/c/d", "a/inside", "a/inside/deeper/e", "é 😀"]) {
    put(root, `.ai/threads/${id}/log.jsonl`);
  }
  for (const other of ["x/other.jsonl", "log.jsonl", "registry.db", "y/log.jsonl.lock"]) {
    put(root, `.ai/threads/${other}`);
  }
  mkdirSync(join(root, ".ai/threads/z/log.jsonl"), { recursive: true });

  assert.deepEqual(
    ids(root, named),
    ["a", "a/inside", "a/inside/deeper/e", "b/c/d", "é 😀"].sort(),
  );
});

test("logs at one level are found there and nowhere else", () => {
  const root = tempDirectory();
  for (const path of ["a/sessions/1", "a/sessions/2.x", "b/sessions/1"]) {
    put(root, `agents/${path}.jsonl`);
  }
  for (const other of [
    "a/sessions/1.jsonl.lock",
    "a/sessions/bad.jsonl",
    "a/sessions/deep/1.jsonl",
    "a/1.jsonl",
    "a/other/1.jsonl",
    "1.jsonl",
  ]) {
    put(root, `agents/${other}`);
  }
  assert.deepEqual(ids(root, level), ["a/1", "a/2.x", "b/1"]);
});

test("a missing root, or a missing directory in it, has no logs", () => {
  const root = tempDirectory();
  assert.deepEqual(ids(join(root, "nowhere"), named), []);
  assert.deepEqual(ids(root, named), []);
  put(root, ".ai/threads");
  assert.deepEqual(ids(root, named), []);
  assert.deepEqual(ids(put(root, "file"), named), []);
});

test("no symbolic link is followed below the root, and one to the root is", () => {
  const outside = tempDirectory();
  put(outside, "t/log.jsonl");
  put(outside, "t/sessions/1.jsonl");
  const root = tempDirectory();
  put(root, ".ai/threads/real/log.jsonl");
  symlinkSync(join(outside, "t"), join(root, ".ai/threads/linked"));
  mkdirSync(join(root, ".ai/threads/file"));
  symlinkSync(join(outside, "t/log.jsonl"), join(root, ".ai/threads/file/log.jsonl"));
  mkdirSync(join(root, "agents/a"), { recursive: true });
  symlinkSync(join(outside, "t"), join(root, "agents/b"));
  symlinkSync(join(outside, "t/sessions"), join(root, "agents/a/sessions"));
  const link = join(outside, "root");
  symlinkSync(root, link);

  assert.deepEqual(ids(root, named), ["real"]);
  assert.deepEqual(ids(link, named), ["real"]);
  assert.deepEqual(ids(root, level), []);

  rmSync(join(root, ".ai"), { recursive: true });
  mkdirSync(join(outside, "threads/x"), { recursive: true });
  put(outside, "threads/x/log.jsonl");
  symlinkSync(outside, join(root, ".ai"));
  assert.deepEqual(ids(root, named), []);
});

test("entries that are neither a file nor a directory are skipped, and never opened", () => {
  const root = tempDirectory();
  mkdirSync(join(root, ".ai/threads/a"), { recursive: true });
  execFileSync("mkfifo", [join(root, ".ai/threads/a/log.jsonl"), join(root, ".ai/threads/b")]);
  assert.deepEqual(ids(root, named), []);
});

test("directories are searched 32 levels deep, and no deeper", () => {
  const root = tempDirectory();
  assert.equal(FIND_DEPTH_MAX, 32);
  const at = (depth: number) => Array(depth).fill("d").join("/");
  put(root, `.ai/threads/${at(32)}/log.jsonl`);
  put(root, `.ai/threads/${at(33)}/log.jsonl`);
  assert.deepEqual(ids(root, named), [at(32)]);
});

test("unreadable directories are reported, and the rest is found", () => {
  const root = tempDirectory();
  put(root, ".ai/threads/a/log.jsonl");
  put(root, ".ai/threads/closed/sub/log.jsonl");
  put(root, ".ai/threads/unlisted/sub/log.jsonl");
  chmodSync(join(root, ".ai/threads/closed"), 0o000);
  chmodSync(join(root, ".ai/threads/unlisted"), 0o111);
  const unreadable: Unreadable[] = [];
  const onUnreadable = (each: Unreadable) => unreadable.push(each);

  const found = asOrdinaryUser(root, () => findLogs(root, named, { onUnreadable }));
  assert.deepEqual(
    found.map(({ id }) => id),
    ["a"],
  );
  const told = unreadable.map(({ id, path, cause }) => [path, id, cause.code]);
  assert.deepEqual(told.sort(), [
    [".ai/threads/closed", null, "IO_ERROR"],
    [".ai/threads/closed/log.jsonl", "closed", "IO_ERROR"],
    [".ai/threads/unlisted", null, "IO_ERROR"],
  ]);
  chmodSync(join(root, ".ai/threads/closed"), 0o700);
});

test("links that may hide logs are reported: in a log's place, and to a directory outside the root", () => {
  const outside = tempDirectory();
  put(outside, "t/log.jsonl");
  const root = tempDirectory();
  put(root, ".ai/threads/real/log.jsonl");
  put(root, ".ai/threads/linked/inside/log.jsonl");
  symlinkSync(join(outside, "t/log.jsonl"), join(root, ".ai/threads/linked/log.jsonl"));
  symlinkSync(join(outside, "t"), join(root, ".ai/threads/elsewhere"));
  // Second names, dangling links and links to files hide nothing.
  symlinkSync(join(root, ".ai/threads/real"), join(root, ".ai/threads/latest"));
  symlinkSync(join(outside, "gone"), join(root, ".ai/threads/dangling"));
  symlinkSync(join(outside, "t/log.jsonl"), join(root, ".ai/threads/notes.md"));
  mkdirSync(join(root, "agents/a"), { recursive: true });
  symlinkSync(join(outside, "t"), join(root, "agents/a/sessions"));
  symlinkSync(join(outside, "t"), join(root, "agents/b"));

  assert.deepEqual(refused(root, named), [".ai/threads/elsewhere", ".ai/threads/linked/log.jsonl"]);
  assert.deepEqual(refused(root, level), ["agents/a/sessions", "agents/b"]);

  rmSync(join(root, ".ai"), { recursive: true });
  symlinkSync(outside, join(root, ".ai"));
  assert.deepEqual(refused(root, named), [".ai"]);
});

test("other files, and deleted ones, are not reported", () => {
  const root = tempDirectory();
  const onUnreadable = ({ path }: Unreadable) => assert.fail(path);
  put(root, ".ai/threads/a/log.jsonl/b");
  put(root, "agents/a/sessions/bad.jsonl");
  symlinkSync("nowhere", join(root, "agents/a/sessions/bad2.jsonl"));
  for (const at of [root, join(root, "nowhere"), put(root, "file")]) {
    findLogs(at, named, { onUnreadable });
    findLogs(at, level, { onUnreadable });
  }
});

test("in any tree, the logs found are those that listing every directory finds", () => {
  // Method: random trees of directories and files, against a search without short cuts.
  const name = fc.constantFrom("a", "b", "c", "log.jsonl", "x.md");
  const path = fc.array(name, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(path, { maxLength: 12 }), (paths) => {
      const root = tempDirectory();
      const top = join(root, ".ai/threads");
      mkdirSync(top, { recursive: true });
      for (const segments of paths) {
        try {
          put(top, segments.join("/"));
        } catch {
          // A file is where a directory would have to be, or the reverse: another tree.
        }
      }
      const all = readdirSync(top, { recursive: true, withFileTypes: true });
      const expected = all
        .filter((entry) => entry.isFile() && entry.name === "log.jsonl" && entry.parentPath !== top)
        .map((entry) => entry.parentPath.slice(top.length + 1));

      expect(ids(root, named)).toEqual(expected.sort());
      rmSync(root, { recursive: true });
    }),
    { numRuns: 100 },
  );
});

/** Paths refused because they are links, or behind one. */
function refused(root: string, layout: NamedLayout | LevelLayout): string[] {
  const paths: string[] = [];
  const onUnreadable = ({ path, cause }: Unreadable) => {
    assert.equal(cause.code, "UNSAFE_PATH");
    paths.push(path);
  };
  findLogs(root, layout, { onUnreadable });
  return paths.sort();
}

/** Root may read everything, so the test becomes the user `nobody` for a moment. */
function asOrdinaryUser<T>(root: string, work: () => T): T {
  if (process.getuid?.() !== 0) return work();
  chmodSync(root, 0o755);
  process.seteuid?.(65534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}
