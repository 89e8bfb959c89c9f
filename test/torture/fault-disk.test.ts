import assert from "node:assert/strict";
import { test } from "vitest";
import { DirectoryNode, FileNode } from "./fault-disk.ts";
import { Random } from "./scheduler.ts";

const PAGE = 64;
const contents = (file: FileNode): string => {
  const bytes = Buffer.alloc(file.size);
  file.read(bytes, 0);
  return bytes.toString("latin1");
};

/** Every content that a file had after 300 different power cuts. */
function afterCrash(prepare: (file: FileNode, random: Random) => void): Set<string> {
  const seen = new Set<string>();
  for (let seed = 0; seed < 300; seed++) {
    const random = new Random(seed);
    const file = new FileNode(1, PAGE);
    prepare(file, random);
    file.crash(random);
    seen.add(contents(file));
  }
  return seen;
}

const line = (letter: string) => Buffer.from(letter.repeat(PAGE));

test("synced bytes survive a crash, always", () => {
  const seen = afterCrash((file) => {
    file.write(line("a"), 0);
    file.beginSync()(null);
  });
  assert.deepEqual([...seen], ["a".repeat(PAGE)]);
});

test("un-synced bytes can be lost, kept, torn and zero-filled", () => {
  const seen = afterCrash((file) => {
    file.write(line("a"), 0);
  });
  assert.ok(seen.has(""), "lost");
  assert.ok(seen.has("a".repeat(PAGE)), "kept");
  assert.ok(seen.has("\0".repeat(PAGE)), "zero-filled");
  assert.ok(
    [...seen].some((text) => /^a+\0+$/.test(text)),
    "torn",
  );
});

test("un-synced pages can arrive out of order", () => {
  const seen = afterCrash((file) => {
    file.write(line("a"), 0);
    file.write(line("b"), PAGE);
  });
  assert.ok(seen.has("\0".repeat(PAGE) + "b".repeat(PAGE)));
});

test("pages of a failed sync read back as written until the crash, and are gone after it", () => {
  const seen = afterCrash((file, random) => {
    file.write(line("a"), 0);
    file.beginSync()(random);
    assert.equal(contents(file), "a".repeat(PAGE));
    file.beginSync()(null); // Succeeds, but does not write the page.
  });
  assert.ok(seen.has("\0".repeat(PAGE)));
});

test("a truncation that was not synced can be undone by a crash", () => {
  const seen = afterCrash((file) => {
    file.write(line("a"), 0);
    file.beginSync()(null);
    file.truncate(0);
  });
  assert.deepEqual([...seen].toSorted(), ["", "a".repeat(PAGE)]);
});

test("a name that was not synced can vanish or stay, and a synced one stays", () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 100; seed++) {
    const directory = new DirectoryNode();
    directory.set("synced", new FileNode(1, PAGE));
    directory.beginSync()();
    directory.set("new", new FileNode(2, PAGE));
    directory.crash(new Random(seed));
    seen.add(directory.names().toSorted().join(" "));
  }
  assert.deepEqual([...seen].toSorted(), ["new synced", "synced"]);
});
