/** `verify` skips nothing that looks like a session, and never reports a forgery as a loss. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import { SessionVerifier } from "../../src/evidence/verify/session-verifier.ts";
import { SigningUser, type Written } from "../support/signing-user.ts";

const WITH_SIDECAR: readonly DialectName[] = ["homeagent", "claude", "sdk"];

/** Every session that is found, or those of a name: its place, verdict and findings. */
async function found({ target: { root, dialect } }: Written, names: readonly string[] = []) {
  const where = { cwd: root, root, dialect };
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning: () => {} });
  const reports: string[] = [];
  for (const each of await verifier.find(names)) {
    const { verdict, findings } = await verifier.verify(each);
    reports.push([each.id ?? each.logId, verdict, ...findings.map(({ code }) => code)].join(" "));
  }
  return reports.sort();
}

test.for(WITH_SIDECAR)(
  "checkpoints whose log was deleted are a rollback, even without a pin (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const written = await user.writeTurns({ dialect }, 2);
    const { id, root } = written.target;
    assert.deepEqual(await found(written), [`${id} verified`]);
    rmSync(join(user.home, "state"), { recursive: true });
    rmSync(written.path);
    const gone = `${id} rollback LOG_SHORTER_THAN_SIDECAR`;
    assert.deepEqual(await found(written), [gone]);
    assert.deepEqual(await found(written, [id]), [gone]);
    assert.deepEqual(await found(written, [written.path]), [gone]);
    assert.deepEqual(await found(written, [root]), [gone]);
    // An empty sidecar never covered anything.
    writeFileSync(written.sidecarPath, "");
    await assert.rejects(found(written, [id]), /no session/);
  },
);

test.for(WITH_SIDECAR)(
  "checkpoints that cover more than the log are a rollback only when signed (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const written = await user.writeTurns({ dialect }, 2);
    const log = readFileSync(written.path);
    writeFileSync(written.path, log.subarray(0, log.subarray(0, -1).lastIndexOf("\n") + 1));
    const verdict = async () => (await user.verify(written, { isPinned: false })).verdict;
    assert.equal(await verdict(), "rollback");
    const lines = readFileSync(written.sidecarPath, "utf8");
    writeFileSync(
      written.sidecarPath,
      lines.replace(/"sig2":"....([^"]*"\}\}\n)$/, '"sig2":"AAAA$1'),
    );
    assert.notEqual(readFileSync(written.sidecarPath, "utf8"), lines);
    assert.equal(await verdict(), "tampered");
  },
);

const MISNAMED: readonly (readonly [DialectName, string])[] = [
  ["rye", ".ai/threads/a\nb/transcript.jsonl"],
  ["rye", ".ai/threads/transcript.jsonl"],
  ["entire", ".entire/metadata/a\nb/full.jsonl"],
  ["homeagent", "agents/kitchen/sessions/a\nb.jsonl"],
  ["homeagent", "agents/a\nb/sessions/evening.jsonl"],
];

test.for(MISNAMED)("a signed log of %s at %j is reported as unreadable", async ([dialect, to]) => {
  const user = new SigningUser();
  const written = await user.writeTurns({ dialect }, 1);
  const { id, root } = written.target;
  const copy = join(root, to);
  mkdirSync(dirname(copy), { recursive: true });
  writeFileSync(copy, readFileSync(written.path));
  assert.deepEqual(await found(written), [`${to} unreadable UNREADABLE`, `${id} verified`].sort());
  // Renamed, so that no copy is left under its id: that id is reported as missing, too.
  renameSync(written.path, copy);
  const codes = (await found(written)).map((report) => report.slice(report.indexOf(" ")));
  assert.equal(codes.length, 2);
  assert.ok(codes.some((each) => each.startsWith(" rollback")));
});

test("NULs at the end of a sidecar are torn, with LF or without, and any other line is foreign", async () => {
  const user = new SigningUser();
  const written = await user.writeTurns({ dialect: "homeagent" }, 1);
  const signed = readFileSync(written.sidecarPath);
  const after = async (end: string) => {
    writeFileSync(written.sidecarPath, signed);
    appendFileSync(written.sidecarPath, end);
    const { verdict, findings } = await user.verify(written);
    return [verdict, ...findings.map(({ code }) => code)].join(" ");
  };
  for (const end of ["\0\0", "\0\0\n", "\0\n\0\n", '{"time\0\0', "\0\nabc", "abc", "a\x01"]) {
    assert.equal(await after(end), "verified TORN_TAIL", JSON.stringify(end));
  }
  for (const end of ["\n", "abc\n", "\0\nabc\n", "abc\n\0"]) {
    assert.match(await after(end), /^tampered SIDECAR_FOREIGN_BYTES/, JSON.stringify(end));
  }
});

const TAILS: readonly (readonly [string, string, string])[] = [
  ['{"type":"checkpoint"}\n', "tampered NOT_A_CHECKPOINT", "incomplete UNSIGNED_TAIL"],
  ['{"type":"us\x01er', "tampered TAIL_CONTROL_BYTE", "tampered TAIL_CONTROL_BYTE"],
  ['{"type":"us\ter', "tampered TAIL_CONTROL_BYTE", "incomplete TORN_TAIL"],
  ['{"type":"us\0er', "incomplete NUL_TAIL", "incomplete NUL_TAIL"],
];

test.for(TAILS)(
  "the tail %j gets the verdict on the page, in each dialect",
  async ([tail, ours, others]) => {
    const user = new SigningUser();
    for (const dialect of ["rye", "entire", "homeagent", "sdk", "claude", "verbatim"] as const) {
      const written = await user.writeTurns({ dialect }, 1);
      appendFileSync(written.path, tail);
      const { verdict, findings } = await user.verify(written);
      const wanted = dialect === "claude" ? others : ours;
      assert.equal(`${verdict} ${findings[0]?.code}`, wanted, dialect);
    }
  },
);
