/** The attack corpus, written out and judged: every row gets the verdict that it must. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../../src/base/node-host.ts";
import { exitCode } from "../../../src/proof/verdict.ts";
import { verifyLog } from "../../../src/signing/verify.ts";
import { NOTHING_REMEMBERED } from "../../../src/signing/verify-options.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { CASES, type Row, type Table, writeCorpus } from "./corpus.ts";
import type { Kit } from "./kit.ts";

/** The holes of the seed's design that leave files behind; the others are in other suites. */
const HOLES = "A B C D E F G H I J K L M O P T U V X Y Z AA AB AE".split(" ");

async function verdictOn(kit: Kit, directory: string, row: Row) {
  const { dialect, session: id, log: logId, pin, flags } = row;
  const target = { dialect, root: join(directory, row.name), logId, id };
  const report = await verifyLog(nodeHost, target, {
    ...(await kit.victim.judging(target, false)),
    remembered: { ...NOTHING_REMEMBERED, here: pin },
    isLegacyProfile: flags.profile === "rye",
    requiresPin: flags.requirePin === true,
  });
  return { report, exit: exitCode(report.verdict, flags) };
}

test("every attack of the corpus gets the verdict and the exit code that its row says", async () => {
  const directory = process.env.VERBATIM_CORPUS ?? tempDirectory();
  mkdirSync(directory, { recursive: true });
  const { kit } = await writeCorpus(directory);
  const text = readFileSync(join(directory, "table.json"), "utf8");
  const { cases } = JSON.parse(text) as Table;
  assert.equal(cases.length, CASES.length);
  const wrong: string[] = [];
  for (const row of cases) {
    const { report, exit } = await verdictOn(kit, directory, row);
    const codes = report.findings.map(({ code }) => code);
    const missing = row.expect.codes.filter((code) => !codes.includes(code));
    const isFresh = row.expect.freshness === null || report.freshness === row.expect.freshness;
    if (report.verdict === row.expect.verdict && exit === row.expect.exit) {
      if (missing.length === 0 && isFresh) continue;
    }
    const told = `${report.verdict} ${exit} ${report.freshness} [${codes}]`;
    wrong.push(`${row.name}: ${told}, not ${JSON.stringify(row.expect)}`);
  }
  expect(wrong).toEqual([]);
});

test("no two attacks have one name, and every hole that leaves files behind has one", () => {
  const names = CASES.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const rows = CASES.flatMap(({ row }) => row.split(", "));
  expect(rows).toEqual(expect.arrayContaining(HOLES));
});
