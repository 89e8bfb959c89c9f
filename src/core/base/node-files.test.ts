import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDescriptorsBelow } from "../../../test/support/open-descriptors.ts";
import { refusal, thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { Directory, Files, OpenMode } from "./files.ts";
import { NETWORK_FILE_SYSTEMS } from "./network-file-systems.ts";
import { createNodeFiles } from "./node-files.ts";

const MODES: readonly OpenMode[] = ["read", "append", "update", "new"];

/** Both ways run everywhere: by descriptor as on Linux, by path as on systems without /proc. */
describe.each([
  { way: "by descriptor", byDescriptor: true },
  { way: "by path", byDescriptor: false },
])("$way", ({ byDescriptor }) => {
  const files = createNodeFiles({ byDescriptor });

  test("new files are 0600 and new directories 0700, whatever the umask", async () => {
    for (const umask of [0o000, 0o022, 0o077]) {
      const root = tempDirectory();
      const before = process.umask(umask);
      try {
        const directory = await openDirectory(files, join(root, "a/b/c"), true, root);
        for (const mode of ["append", "update", "new"] as const) directory.open(mode, mode).close();
      } finally {
        process.umask(before);
      }
      for (const made of ["a", "a/b", "a/b/c"]) assert.equal(modeOf(join(root, made)), 0o700);
      for (const made of ["append", "update", "new"]) {
        assert.equal(modeOf(join(root, "a/b/c", made)), 0o600, `umask ${umask.toString(8)}`);
      }
    }
  });

  test("directories above a root that is missing are made, 0700 too", async () => {
    const root = join(tempDirectory(), "x/y");
    await openDirectory(files, join(root, "z"), true, root);

    for (const made of ["..", ".", "z"]) assert.equal(modeOf(join(root, made)), 0o700);
  });

  test("opening a missing directory fails and does not create it, unless asked to", async () => {
    const root = tempDirectory();
    await assert.rejects(openDirectory(files, join(root, "a"), false, root), { code: "ENOENT" });
    assert.deepEqual(readdirSync(root), []);
  });

  test("making a directory again reports that it was there", async () => {
    const root = tempDirectory();
    assert.equal(await files.makeDirectory(join(root, "a/b"), { root }), true);
    assert.equal(await files.makeDirectory(join(root, "a/b"), { root }), false);
    for (const made of ["a", "a/b"]) assert.equal(modeOf(join(root, made)), 0o700);
  });

  test("no directory is made behind a symbolic link, or outside the root", async () => {
    const [root, victim] = [tempDirectory(), tempDirectory()];
    symlinkSync(victim, join(root, "link"));
    for (const path of [join(root, "link/a"), join(root, "link/a/b"), join(victim, "a")]) {
      await refusal(files.makeDirectory(path, { root }), "UNSAFE_PATH");
    }
    assert.deepEqual(readdirSync(victim), []);
  });

  test("renaming over a file replaces it whole", async () => {
    const root = tempDirectory();
    writeFileSync(join(root, "new"), "new");
    writeFileSync(join(root, "old"), "old");
    (await openDirectory(files, root, false, root)).rename("new", "old");

    assert.deepEqual(readdirSync(root), ["old"]);
    assert.equal(readFileSync(join(root, "old"), "utf8"), "new");
  });

  test("a symbolic link in place of a file is refused in every mode and its target is untouched", async () => {
    const [root, victim] = [tempDirectory(), tempDirectory()];
    writeFileSync(join(victim, "precious"), "untouched");
    symlinkSync(join(victim, "precious"), join(root, "link"));
    symlinkSync(join(victim, "missing"), join(root, "dangling"));

    for (const withRoot of [root, undefined]) {
      const directory = await openDirectory(files, root, false, withRoot);
      for (const mode of MODES) {
        for (const link of ["link", "dangling"]) {
          if (mode === "new") assert.throws(() => directory.open(link, mode), { code: "EEXIST" });
          else thrownRefusal(() => directory.open(link, mode), "UNSAFE_PATH");
        }
      }
    }
    assert.deepEqual(readdirSync(victim), ["precious"]);
    assert.equal(readFileSync(join(victim, "precious"), "utf8"), "untouched");
  });

  test("a symbolic link anywhere below the root is refused, and nothing is made behind it", async () => {
    for (const linked of ["a", "a/b", "a/b/c"]) {
      const [root, victim] = [tempDirectory(), tempDirectory()];
      const whole = join(root, "a/b/c");
      mkdirSync(join(root, linked, ".."), { recursive: true });
      symlinkSync(victim, join(root, linked));

      for (const create of [true, false]) {
        await refusal(openDirectory(files, whole, create, root), "UNSAFE_PATH");
      }
      assert.deepEqual(readdirSync(victim), [], `${linked} was a link`);
    }
  });

  test("the root may be a symbolic link, and so may directories above it", async () => {
    const [elsewhere, top] = [tempDirectory(), tempDirectory()];
    symlinkSync(elsewhere, join(top, "link"));
    mkdirSync(join(elsewhere, "root"));
    for (const root of [join(top, "link"), join(top, "link", "root")]) {
      const directory = await openDirectory(files, join(root, "a"), true, root);
      directory.open("log", "append").close();

      assert.ok(existsSync(join(root, "a/log")));
    }
  });

  test("without a root, the caller's own path may lead through symbolic links", async () => {
    const [elsewhere, top] = [tempDirectory(), tempDirectory()];
    symlinkSync(elsewhere, join(top, "link"));
    const directory = await openDirectory(files, join(top, "link", "a"), true);
    directory.open("log", "append").close();

    assert.ok(existsSync(join(elsewhere, "a/log")));
  });

  test("a directory outside the root is refused, even if its path begins with the root's name", async () => {
    const top = tempDirectory();
    const root = join(top, "root");
    for (const path of [top, join(top, "other"), join(top, "rootless"), join(root, "../..")]) {
      await refusal(openDirectory(files, path, true, root), "UNSAFE_PATH");
    }
    assert.deepEqual(readdirSync(top), []);
  });

  test("a pipe, a socket or a directory in place of a file is refused without waiting for it", async () => {
    const root = tempDirectory();
    assert.equal(spawnSync("mkfifo", [join(root, "pipe")]).status, 0);
    mkdirSync(join(root, "directory"));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "socket"), resolve));
    onTestFinished(() => void server.close());

    const directory = await openDirectory(files, root, false, root);
    const held = openDescriptorsBelow(root);
    for (const mode of MODES) {
      for (const name of ["pipe", "socket", "directory"]) {
        assert.throws(() => directory.open(name, mode), `${name} was opened to ${mode}`);
      }
    }
    thrownRefusal(() => directory.open("pipe", "append"), "UNSAFE_PATH");
    assert.deepEqual(openDescriptorsBelow(root), held);
  });

  test("refused paths leave no descriptor open", async () => {
    const [root, victim] = [tempDirectory(), tempDirectory()];
    symlinkSync(victim, join(root, "link"));
    mkdirSync(join(root, "a"));
    writeFileSync(join(root, "file"), "");

    for (const path of ["link", "a/../link/b", "a/missing", "file", "file/a"]) {
      await assert.rejects(files.openDirectory(join(root, path), { create: false, root }), path);
    }
    assert.deepEqual(openDescriptorsBelow(root), []);
    assert.deepEqual(openDescriptorsBelow(victim), []);
  });
});

test("a file is read to its end from any position", async () => {
  const root = tempDirectory();
  writeFileSync(join(root, "file"), "0123456789");
  const file = (await openDirectory(createNodeFiles(), root, false)).open("file", "read");

  for (let at = 0; at <= 12; at++) {
    const into = Buffer.alloc(4, ".");
    const expected = "0123456789".slice(at, at + 4);
    assert.equal(await file.read(into, at), expected.length);
    assert.equal(into.toString(), expected.padEnd(4, "."));
  }
  file.close();
});

test("a file opened to append is written at its end, one opened to update in place", async () => {
  const root = tempDirectory();
  const directory = await openDirectory(createNodeFiles(), root, false);
  const [append, update] = [directory.open("file", "append"), directory.open("file", "update")];

  assert.equal(append.write(Buffer.from("one two ...")), 11);
  assert.equal(append.write(Buffer.from("three four"), 5), 5);
  assert.equal(update.writeAt(Buffer.from("TWO"), 4), 3);
  assert.equal(readFileSync(join(root, "file"), "utf8"), "one TWO ...three");
  append.truncate(7);
  assert.equal(append.write(Buffer.from("!")), 1);
  assert.equal(readFileSync(join(root, "file"), "utf8"), "one TWO!");
  assert.deepEqual([append.size(), update.size()], [8, 8]);
  append.close();
  update.close();
});

test("endsAt is true for the file's size only", async () => {
  const directory = await openDirectory(createNodeFiles(), tempDirectory(), false);
  const file = directory.open("file", "append");
  for (let size = 0; size <= 3; size++) {
    for (let at = 0; at <= 5; at++) assert.equal(file.endsAt(at), at === size);
    file.write(Buffer.from("x"));
  }
  file.close();
});

test("a file that was deleted or replaced is no longer linked", async () => {
  const directory = await openDirectory(createNodeFiles(), tempDirectory(), false);
  const [deleted, replaced] = [directory.open("a", "append"), directory.open("b", "append")];
  const replacing = directory.open("c", "append");
  assert.deepEqual(
    [deleted, replaced, replacing].map((file) => file.isLinked()),
    [true, true, true],
  );

  directory.remove("a");
  directory.rename("c", "b");
  assert.deepEqual(
    [deleted, replaced, replacing].map((file) => file.isLinked()),
    [false, false, true],
  );
  for (const file of [deleted, replaced, replacing]) file.close();
});

test("a file opened as new must not exist yet", async () => {
  const root = tempDirectory();
  const directory = await openDirectory(createNodeFiles(), root, false);
  directory.open("file", "new").close();

  assert.throws(() => directory.open("file", "new"), { code: "EEXIST" });
});

test("two handles of one file agree on its identity, and a file that replaces it has another", async () => {
  const root = tempDirectory();
  const directory = await openDirectory(createNodeFiles(), root, false);
  const [first, second] = [directory.open("file", "append"), directory.open("file", "read")];
  directory.remove("file");
  const other = directory.open("file", "append");

  assert.equal(first.identity(), second.identity());
  assert.notEqual(first.identity(), other.identity());
  for (const file of [first, second, other]) file.close();
});

test("watching a file reports changes, and watching a missing one does not fail", async () => {
  const root = tempDirectory();
  writeFileSync(join(root, "file"), "");
  const directory = await openDirectory(createNodeFiles(), root, false);
  let changes = 0;
  onTestFinished(
    directory.watch("file", () => {
      changes++;
    }),
  );
  writeFileSync(join(root, "file"), "more");
  await expect.poll(() => changes, { timeout: 60_000 }).toBeGreaterThan(0);

  directory.watch("missing", () => {})();
});

test("a local directory is not reported as a network file system", async () => {
  const directory = await openDirectory(createNodeFiles(), tempDirectory(), false);
  assert.equal(directory.networkFileSystem, null);
});

test.each([
  [0x6969, "NFS"],
  [0x65735546, "FUSE or virtiofs"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
])("the `statfs` type %i is a network file system's: %s", (type, name) => {
  assert.equal(NETWORK_FILE_SYSTEMS.get(type), name);
});

async function openDirectory(
  files: Files,
  path: string,
  create: boolean,
  root?: string,
): Promise<Directory> {
  const directory = await files.openDirectory(path, { create, root });
  onTestFinished(() => directory.close());
  return directory;
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o7777;
}
