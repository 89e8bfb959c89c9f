import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { TextComparison } from "../rye/files/check-files.ts";

async function comparisonWith(content: string | Buffer): Promise<TextComparison> {
  const path = tempDirectory();
  writeFileSync(join(path, "text"), content);
  const directory = await nodeHost.files.openDirectory(path, { create: false });
  const file = directory.open("text", "read");
  onTestFinished(() => {
    file.close();
    directory.close();
  });
  return new TextComparison(file);
}

test("a file equals a text, in whatever pieces the text arrives, or differs at the first other byte", async () => {
  // Method: two texts of few letters, so that they often agree for a while, cut at random.
  const text = fc.array(fc.constantFrom("a", "é", "😀"), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(text, text, async (held, said) => {
      const [file, expected] = [Buffer.from(held.join("")), Buffer.from(said.join(""))];
      const comparison = await comparisonWith(file);
      for (const piece of said) await comparison.add(piece);
      let same = 0;
      while (same < file.length && same < expected.length && file[same] === expected[same]) same++;
      const isWhole = same === file.length && same === expected.length;
      assert.equal(await comparison.differsAt(), isWhole ? null : same);
    }),
    { numRuns: 60 },
  );
});

test("long texts are compared piece by piece, and comparing stops at the first difference", async () => {
  const line = `${"x".repeat(999)}\n`;
  const comparison = await comparisonWith(`${line.repeat(300)}y`);
  for (let n = 0; n < 300; n++) await comparison.add(line);
  assert.equal(comparison.hasDiffered, false);
  for (let n = 0; n < 100; n++) await comparison.add(line);
  assert.equal(comparison.hasDiffered, true);
  assert.equal(await comparison.differsAt(), 300_000);
});
