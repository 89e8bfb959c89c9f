/**
 * Mutants: bugs planted in a copy of the sources, each of which torture must find.
 *
 * This tests the test: a fault file system that does not notice a missing sync would prove nothing
 * about the syncs that are there.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import { triedMutations } from "../support/tried-mutations.ts";
import { type Mutant, tortureMutant } from "./mutant.ts";

/** CI's budget for the unchanged log; a mutant must be found within it. */
const STEPS = 40_000;

const MUTANTS: readonly Mutant[] = [
  {
    bug: "skips the sync",
    file: "core/log/appender.ts",
    line: "await this.#file.sync();",
    becomes: "",
  },
  {
    bug: "acknowledges before the sync has ended",
    file: "core/log/appender.ts",
    line: "if (mustSync) await this.sync(meanwhile);",
    becomes: "if (mustSync) this.sync(meanwhile).catch(() => {});",
  },
  {
    bug: "does not undo a write that was cut short",
    file: "core/log/appender.ts",
    line: "this.#file.truncate(start);\n        this.#cuts++;",
    becomes: "",
  },
  {
    bug: "does not rewrite the doubtful tail on opening",
    file: "core/log/repair.ts",
    line: "mustTakeAll(inPlace.writeAt(chunk, at), chunk.length);",
    becomes: "",
  },
  {
    bug: "does not sync the directory",
    file: "core/log/open-log.ts",
    line: "if (isNameSynced) await place.directory.sync();",
    becomes: "",
  },
  {
    bug: "writes over cut bytes before the cut is durable",
    file: "core/log/appender.ts",
    line: "return this.#cuts !== this.#cutsSynced;",
    becomes: "return false;",
    seed: 3041712679,
  },
  {
    bug: "does not cut a torn tail",
    file: "core/log/repair.ts",
    line: "file.truncate(end);",
    becomes: "",
  },
  {
    bug: "does not check for appends of other writers",
    file: "core/log/writer.ts",
    line: "await this.#catchUp();",
    becomes: "",
  },
];

for (const mutant of triedMutations(MUTANTS, "src")) {
  test(`torture finds a log that ${mutant.bug}`, async () => {
    const report = await tortureMutant(mutant, "log", STEPS);
    assert.notEqual(report.violations.length, 0, `not found in ${STEPS} steps`);
  });
}
