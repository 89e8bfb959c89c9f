/** A mark holds the number that was set, or nothing. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { JournalMark, MARK_NAME, readMark } from "./journal-mark.ts";

const STORE = "000000005eed0000";

test("a mark holds the last number set; if it was cut, altered or is another store's, it holds nothing", async () => {
  const path = tempDirectory();
  const directory = await nodeHost.files.openDirectory(path, { create: false });
  assert.equal(await readMark(directory, STORE), 0);
  const mark = new JournalMark(directory, STORE);
  for (const lsn of [0, 1, 57, Number.MAX_SAFE_INTEGER, 58]) {
    mark.set(lsn);
    assert.equal(await readMark(directory, STORE), lsn);
  }
  mark.close();
  assert.equal(await readMark(directory, "000000005eed0001"), 0);
  const sound = readFileSync(join(path, MARK_NAME));
  for (let at = 0; at < sound.length; at++) {
    const altered = Buffer.from(sound);
    altered[at] = (altered[at] as number) ^ 1;
    for (const bytes of [altered, sound.subarray(0, at)]) {
      writeFileSync(join(path, MARK_NAME), bytes);
      assert.equal(await readMark(directory, STORE), 0, `byte ${at}`);
    }
  }
  directory.close();
});
