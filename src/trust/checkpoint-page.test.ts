/** Checks the examples of docs/formats/checkpoint.md with our code and with openssl. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { testKey } from "../../test/signing/json-key.ts";
import { memoryHost } from "../../test/support/memory-files.ts";
import { hasProgram } from "../../test/support/packages.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import type { VerifyReport } from "./judge/report.ts";
import { verifyLog } from "./judge/verify.ts";
import { nodeCrypto } from "./keys/node-crypto.ts";
import { CHECKPOINT_BYTES_MAX } from "./proof/checkpoint.ts";
import { EXIT_CODES, VERDICTS } from "./proof/verdict.ts";

const page = readFileSync(new URL("../../docs/formats/checkpoint.md", import.meta.url), "utf8");
const verdictSource = readFileSync(new URL("./proof/verdict.ts", import.meta.url), "utf8");
/** The key that signed the examples. */
const key = testKey(7);

function block(info: string): string {
  const found = [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].filter(
    ([, named]) => named === info,
  );
  assert.equal(found.length, 1, `one block of ${info}`);
  return found[0]?.[2] ?? "";
}

function judged(dialect: string, id: string, log: string, sidecar?: string) {
  const files = new Map([["/store/log", new Uint8Array(Buffer.from(log))]]);
  if (sidecar !== undefined) files.set("/store/log.checkpoints", Buffer.from(sidecar));
  const { keys } = key.judge();
  const target = { dialect, root: "/store", logId: "log", id };
  return verifyLog(memoryHost(files), target, { crypto: nodeCrypto, keys });
}

const THREAD = "hello_world-1739012630";

const EXAMPLES: readonly (readonly [string, () => Promise<VerifyReport>, string])[] = [
  ["rye-flat", () => judged("rye", THREAD, block("jsonl rye-flat")), "verified"],
  ["rye-payload", () => judged("rye", THREAD, block("jsonl rye-payload")), "verified"],
  ["entire", () => judged("entire", "2026-02-09-hello", block("jsonl entire")), "incomplete"],
  [
    "homeagent",
    () =>
      judged("homeagent", "kitchen/2026-02-09", block("jsonl homeagent"), block("jsonl sidecar")),
    "verified",
  ],
];

for (const [name, judge, verdict] of EXAMPLES) {
  test(`the page's ${name} example is ${verdict}, and each of its checkpoints is valid`, async () => {
    const report = await judge();
    assert.equal(report.verdict, verdict);
    assert.equal(report.checkpoints.valid, report.checkpoints.total);
    assert.equal(report.deep, true);
  });
}

test("there is an example of every kind", () => {
  const kinds = new Set([...page.matchAll(/"v":2,"kind":"([a-z]+)"/g)].map(([, kind]) => kind));
  const listed = [...page.matchAll(/^\| `([a-z]+)` \| [^|]+ \| [^|]*\|$/gm)].map(
    ([, kind]) => kind,
  );
  const all = ["batch", "final", "genesis", "link", "recovery", "rotate", "turn"];
  assert.deepEqual([...kinds].sort(), all);
  for (const kind of all) assert.ok(listed.includes(kind), kind);
});

test("the page has a row for every field of a checkpoint", () => {
  const [, line = ""] = block("jsonl rye-flat").split("\n");
  for (const field of Object.keys(JSON.parse(line).payload)) {
    assert.match(page, new RegExp(`\`${field}\``), field);
  }
});

test("the page lists every verdict in order, with its exit code", () => {
  const [, section = ""] = /^## Verdicts\n([\s\S]*?)^\| finding/m.exec(page) ?? [];
  const rows = [...section.matchAll(/^\| `([a-z]+)` \| (\d) \|/gm)].map(([, word, exit]) => [
    word,
    Number(exit),
  ]);
  assert.deepEqual(
    rows,
    VERDICTS.map((verdict) => [verdict, EXIT_CODES[verdict]]),
  );
});

test("the page lists exactly the finding codes that exist", () => {
  const [, union = ""] = /export type FindingCode =\n([\s\S]*?);\n/.exec(verdictSource) ?? [];
  const codes = [...union.matchAll(/\| "([A-Z0-9_]+)"/g)].map(([, code]) => code);
  const rows = [...page.matchAll(/^\| `([A-Z0-9_]+)` \| /gm)].map(([, code]) => code);
  assert.ok(codes.length > 30);
  assert.deepEqual(rows.sort(), codes.sort());
});

test("the page's report is the report on its first example", async () => {
  const report = await judged("rye", THREAD, block("jsonl rye-flat"));
  assert.deepEqual(JSON.parse(block("json report")), JSON.parse(JSON.stringify(report)));
});

test("the page names the line length limit", () => {
  const text = page.replaceAll(/\s+/g, " ");
  assert.ok(text.includes(`A line is at most ${CHECKPOINT_BYTES_MAX / 1024} KiB`));
});

test.skipIf(!hasProgram("openssl"))(
  "openssl alone verifies the worked example, and rejects changed ones",
  () => {
    const cwd = tempDirectory();
    const [first = "", genesis = ""] = block("jsonl rye-flat").split("\n");
    assert.equal(block("text key"), key.publicPem);
    writeFileSync(join(cwd, "key.pem"), block("text key"));
    const run = (log: string) => {
      writeFileSync(join(cwd, "log.jsonl"), log);
      return execFileSync("sh", ["-c", `${block("sh openssl")}true`], { cwd, encoding: "utf8" });
    };
    const good = run(`${first}\n${genesis}\n`);
    assert.equal(good.match(/Signature Verified Successfully/g)?.length, 2);
    assert.match(good, /^hash: /);
    const forged = run(`${first.replace("hello", "HELLO")}\n${genesis}\n`);
    assert.doesNotMatch(forged, /^hash: /);
    const altered = run(`${first}\n${genesis.replace('"turn":0', '"turn":1')}\n`);
    assert.equal(altered.match(/Signature Verified Successfully/g)?.length, 1);
  },
);
