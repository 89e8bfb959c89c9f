/** The attack corpus, written and verified: every row gets the expected verdict. */

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { pinLine } from "../../../src/trust/heads/head-file.ts";
import { verifyLog } from "../../../src/trust/judge/verify.ts";
import { NOTHING_REMEMBERED } from "../../../src/trust/judge/verify-options.ts";
import { nodeCrypto } from "../../../src/trust/keys/node-crypto.ts";
import { exitCode, VERDICTS } from "../../../src/trust/proof/verdict.ts";
import { Trust, transcriptKeys } from "../../../src/trust/trusted-keys/trust.ts";
import { CliUser, jsonLines } from "../../cli/cli.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { CASES, type Row, type Table, writeCorpus } from "./corpus.ts";

/** The holes of the seed's design that leave files behind; the others are in other suites. */
const HOLES = "A B C D E F G H I J K L M O P T U V X Y Z AA AB AE".split(" ");

/** `trust`: the victim's, read once for all rows. */
async function verdictOn(trust: Trust, directory: string, row: Row) {
  const { dialect, session: id, log: logId, pin, flags } = row;
  const target = { dialect, root: join(directory, row.name), logId, id };
  const report = await verifyLog(nodeHost, target, {
    crypto: nodeCrypto,
    keys: transcriptKeys(trust, id),
    remembered: { ...NOTHING_REMEMBERED, here: pin },
    isLegacyProfile: flags.profile === "rye",
    requirePin: flags.requirePin === true,
  });
  return { report, exit: exitCode(report.verdict, flags) };
}

test("every attack of the corpus gets the verdict and the exit code of its row", async () => {
  const directory = process.env.VERBATIM_CORPUS ?? tempDirectory();
  mkdirSync(directory, { recursive: true });
  const { kit } = await writeCorpus(directory);
  const text = readFileSync(join(directory, "table.json"), "utf8");
  const { cases } = JSON.parse(text) as Table;
  assert.equal(cases.length, CASES.length);
  const trust = await Trust.load(kit.victim.places);
  const wrong: string[] = [];
  for (const row of cases) {
    const { report, exit } = await verdictOn(trust, directory, row);
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

/** One row for each verdict, and for each flag that changes an exit code. */
const BY_COMMAND = [
  "honest",
  "modified-answer",
  "newer-version",
  "cut-back-pinned",
  "signed-by-unknown",
  "stripped",
  "stripped-allowed",
  "cut-back-pin-required",
  "appended-line",
  "appended-line-lenient",
  "stripped-pinned",
].map((name) => `rye-flat-${name}`);

test("the command line exits with the code of the row, for every verdict and flag", async () => {
  const directory = tempDirectory();
  const { kit, table } = await writeCorpus(directory, ({ name }) => BY_COMMAND.includes(name));
  const rows = table.cases;
  assert.equal(rows.length, BY_COMMAND.length);
  // A tombstone is signed for its store: cases-shown.ts has those.
  const verdicts = VERDICTS.filter((verdict) => verdict !== "deleted");
  assert.deepEqual(new Set(rows.map(({ expect }) => expect.verdict)), new Set(verdicts));
  const user = new CliUser();
  const { path } = (await kit.honest("rye-flat")).written;
  for (const row of rows) {
    const root = join(directory, row.name);
    // The corpus has only logs; a signed thread without its thread.json is incomplete.
    if (row.expect.verdict === "verified") {
      copyFileSync(join(dirname(path), "thread.json"), join(root, dirname(row.log), "thread.json"));
    }
    const pins = row.pin ? pinLine({ ...row.pin, place: `rye:${root}` }) : "";
    const state = join(tempDirectory(), "state");
    mkdirSync(join(state, "verbatim"), { recursive: true, mode: 0o700 });
    writeFileSync(join(state, "verbatim/heads.jsonl"), pins);
    const env = { XDG_CONFIG_HOME: join(kit.victim.home, "config"), XDG_STATE_HOME: state };
    const { lenient, allowUnsigned, requirePin } = row.flags;
    const flags = [
      ...(lenient ? ["--lenient"] : []),
      ...(allowUnsigned ? ["--allow-unsigned"] : []),
      ...(requirePin ? ["--require-pin"] : []),
    ];
    const args = ["verify", row.session, "--root", root, "--json", ...flags];
    const { code, stdout, stderr } = await user.run(args, { env });
    assert.equal(code, row.expect.exit, `${row.name}: ${stderr}`);
    assert.equal(jsonLines(stdout)[0]?.verdict, row.expect.verdict, row.name);
  }
});

test("attack names are unique, and every hole that leaves files behind has an attack", () => {
  const names = CASES.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const rows = CASES.flatMap(({ row }) => row.split(", "));
  expect(rows).toEqual(expect.arrayContaining(HOLES));
});
