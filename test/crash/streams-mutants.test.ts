/** Bugs planted in the stream store, each of which torture must find (as in mutants.test.ts). */

import assert from "node:assert/strict";
import { test } from "vitest";
import { triedMutations } from "../support/tried-mutations.ts";
import { type Mutant, tortureMutant } from "./mutant.ts";

const STEPS = 5_000;

const MUTANTS: readonly Mutant[] = [
  {
    bug: "does not sync the journal",
    file: "streams/commit/committer.ts",
    line: "    const synced = journal.sync();\n",
    becomes: "    const synced = null;\n",
  },
  {
    bug: "answers before the journal is synced",
    file: "streams/commit/committer.ts",
    line: "    await synced;\n",
    becomes: "",
  },
  {
    bug: "leaves producers out of the journal",
    file: "streams/journal/journal-record.ts",
    line: "(producer === null\n",
    becomes: "(producer !== undefined\n",
  },
  {
    bug: "does not write the bytes of the journal to the log files again",
    file: "streams/journal/recovery.ts",
    line: "await writeBytes(logs, journal);",
    becomes: "",
  },
  {
    bug: "creates a segment without syncing its directory",
    file: "streams/journal/journal.ts",
    line: "    await synced(directory.sync(), directory.path);\n",
    becomes: "",
  },
  {
    bug: "does not sync the names of log files before it deletes the journal",
    file: "streams/journal/write-back.ts",
    line: "await logs.sync();",
    becomes: "{}",
  },
  {
    bug: "deletes the journal before the log files are synced",
    file: "streams/journal/write-back.ts",
    line: "await this.#syncFiles(snapshot.files);",
    becomes: "void this.#syncFiles(snapshot.files).catch(() => {});",
    seed: 13,
  },
  {
    bug: "accepts a journal record without checking its crc",
    file: "streams/journal/journal-record.ts",
    line: 'if (hex(crc) !== crcText) return none("its crc differs");',
    becomes: "",
    seed: 2415085372,
  },
  {
    bug: "returns bytes without checking their crc",
    file: "streams/files/reading/stream-reader.ts",
    line: "if (crcOf(bytes.subarray(run.start - start, run.end - start)) === run.crc) continue;",
    becomes: "continue;",
  },
  {
    bug: "lets a checkpoint delete the segment that is in use",
    file: "streams/journal/journal.ts",
    line: "if (nextLsn === this.#segment.firstLsn) return null;",
    becomes: "",
    seed: 4,
  },
  {
    bug: "lets a checkpoint delete a segment that was found empty and is in use again",
    file: "streams/journal/data-directory.ts",
    line: "segments.filter(({ firstLsn }) => firstLsn <= lastLsn)",
    becomes: "segments",
    seed: 2654435772,
  },
  {
    bug: "trusts a checkpoint whose group is torn",
    file: "streams/journal/meta-file.ts",
    line: "if (last !== null && !(await isWhole(file, last.start, last.end))) {",
    becomes: "if (last === undefined) {",
    seed: 535203519,
  },
  {
    bug: "refuses an append for lack of space that a power cut brings back",
    file: "streams/commit/committer.ts",
    line: "      await journal.settle();\n      throw refusal;",
    becomes: "      throw refusal;",
    seed: 535203443,
  },
  {
    bug: "looks up messages in an index that is behind",
    file: "streams/files/lookup/index-backlog.ts",
    line: "if (waiting === undefined || upTo <= waiting.from) return;",
    becomes: "return;",
    seed: 2415085370,
  },
  {
    bug: "begins a checkpoint while its index is behind",
    file: "streams/journal/write-back.ts",
    line: "backlog.write(); // The lines",
    becomes: "void backlog; // The lines",
    seed: 2027808453,
  },
  {
    bug: "marks bytes that are not synced yet",
    file: "streams/commit/committer.ts",
    line: "    const synced = journal.sync();\n",
    becomes: "    this.#parts.mark.set(this.#lastLsn + 1);\n    const synced = journal.sync();\n",
  },
  {
    bug: "writes its last batch again without a sync",
    file: "streams/journal/recovery.ts",
    line: "if (journal.doubtful !== null) await rewrite(journals, journal.doubtful);",
    becomes: "",
    seed: 387276918,
  },
];

for (const mutant of triedMutations(MUTANTS, "src")) {
  test(`torture finds a store of streams that ${mutant.bug}`, async () => {
    const { violations } = await tortureMutant(mutant, "streams", STEPS);
    assert.notEqual(violations.length, 0, `not found in ${STEPS} steps`);
  });
}
