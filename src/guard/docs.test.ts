/** Checks the examples of docs/formats/guard.md with our code. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { docsPage } from "../../test/support/docs-page.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { JOURNAL, readGuardedRoot } from "../dialects/files/guard-store.ts";
import { COMPARED_BYTES } from "./compare.ts";
import { COLD_DAYS } from "./generation.ts";
import { VERSION_BYTES_MAX, type Version, versionBytes, WHOLE_EVERY } from "./versions.ts";

const page = docsPage("formats/guard");

test("the page's events are a journal, and each is described", () => {
  const root = join(tempDirectory(), "claude-code@00000000");
  mkdirSync(root);
  writeFileSync(join(root, JOURNAL), page.block("jsonl event"));
  const read = readGuardedRoot(root);
  assert.equal(read?.source, "/home/ada/.claude");
  const kept = read?.sessions.get("projects/-home-ada-app/6f1c.jsonl");
  assert.equal(kept?.generation, 2);
  assert.equal(kept?.deletedAt, null);
  assert.deepEqual(
    kept?.losses.map(({ generation, lost }) => ({ generation, lost })),
    [{ generation: 1, lost: 31 }],
  );
  const events = page.lines("jsonl event");
  const names = events.map((line) => JSON.parse(line).event);
  const removedAfter = (count: number) => {
    writeFileSync(join(root, JOURNAL), `${events.slice(0, count).join("\n")}\n`);
    return [...(readGuardedRoot(root)?.removed.values() ?? [])].map(({ id }) => id);
  };
  assert.deepEqual(removedAfter(names.indexOf("removed") + 1), ["-home-ada-app/6f1c"]);
  assert.deepEqual(removedAfter(names.indexOf("restored") + 1), []);
  for (const line of page.lines("jsonl event")) {
    assert.match(page.text, new RegExp(`^\\| \`${JSON.parse(line).event}\` \\|`, "m"));
  }
});

test("the page's version has the bytes that its hash names", () => {
  const versions = page.lines("jsonl version").map((line) => JSON.parse(line) as Version);
  const bytes = versionBytes(versions, 1);
  assert.equal(bytes?.toString(), '{"a":["b"]}\n');
  assert.equal(createHash("sha256").update(bytes).digest("hex"), versions[0]?.sha256);
});

test("the page names the limits in the code", () => {
  const MIB = 1024 * 1024;
  for (const phrase of [
    `Up to ${COMPARED_BYTES / MIB} MiB all bytes`,
    `Every ${WHOLE_EVERY}th version`,
    `Files over ${VERSION_BYTES_MAX / MIB} MiB`,
    `${COLD_DAYS} days`,
  ]) {
    assert.ok(page.text.includes(phrase), phrase);
  }
});
