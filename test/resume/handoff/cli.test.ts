/** `verbatim export --format bundle` and `verbatim import`: what a person and a script see, in every dialect. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser, jsonLines } from "../../cli/cli.ts";

const RECORDED = {
  rye: {
    id: "hello-1739012630",
    args: ["--session", "hello-1739012630", "--directive", "hello"],
    path: ".ai/threads/hello-1739012630/transcript.jsonl",
    entries: [{ type: "user_message", text: "Deploy it." }],
  },
  homeagent: {
    id: "kitchen/evening",
    args: ["--session", "evening", "--agent", "kitchen", "--root", "."],
    path: "agents/kitchen/sessions/evening.jsonl",
    entries: [{ turnId: "1", role: "user", content: "Deploy it.", ts: 1 }],
  },
  entire: {
    id: "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890",
    args: ["--session", "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890"],
    path: ".entire/metadata/2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890/full.jsonl",
    entries: [{ type: "user", message: { content: "Deploy it." } }],
  },
} as const;

type DialectName = keyof typeof RECORDED;
const DIALECTS = Object.keys(RECORDED) as DialectName[];

async function recorded(dialect: DialectName): Promise<CliUser> {
  const user = new CliUser();
  const { args, entries } = RECORDED[dialect];
  const command = ["record", "--dialect", dialect, "--sign", ...args];
  const { code, stderr } = await user.run(command, { input: asLines(...entries) });
  assert.deepEqual([code, stderr], [0, ""]);
  return user;
}

test.each(DIALECTS)(
  "a %s session is handed off and unpacked, by the own key or another trusted one",
  async (dialect) => {
    const ada = await recorded(dialect);
    const { id, path } = RECORDED[dialect];
    const handed = await ada.run(["export", "--format", "bundle", id, "--root", "."]);
    assert.equal(handed.code, 0, handed.stderr);
    const file = join(ada.cwd, `${id.replaceAll("/", "__")}.vbx`);
    assert.equal(handed.stdout, `${file}\n`);
    expect(handed.stderr).toMatch(/: verified; \d+ bytes, signed by [0-9a-f]{64}\n$/);

    const ben = new CliUser();
    const foreign = await ben.run(["import", file, "--root", "store"]);
    assert.deepEqual([foreign.code, foreign.stdout], [4, ""]);
    expect(foreign.stderr).toMatch(/is untrusted.*trust add.*\(NOT_VERIFIED\)/s);
    assert.ok(!existsSync(join(ben.cwd, "store")));
    const { stdout: key } = await ada.run(["keys", "export"]);
    const trusting = [
      "keys",
      "trust",
      "add",
      "-",
      "--owner",
      "Ada",
      "--purpose",
      "transcript,thread",
    ];
    assert.equal((await ben.run([...trusting, "--yes"], { input: key })).code, 0);
    const unpacked = await ben.run(["import", file, "--root", "store", "--json"]);
    assert.equal(unpacked.code, 0, unpacked.stderr);
    const [report] = jsonLines(unpacked.stdout);
    assert.deepEqual(
      [report?.schema, report?.session, report?.verdict],
      ["verbatim.unpack/1", id, "verified"],
    );
    assert.deepEqual(readFileSync(join(ben.cwd, "store", path)), readFileSync(join(ada.cwd, path)));
    assert.equal((await ben.run(["verify", id, "--root", "store"])).code, 0);
    const again = await ben.run(["import", file, "--root", "store"]);
    assert.equal(again.code, 7);
    expect(again.stderr).toMatch(/\(SESSION_EXISTS\)/);
  },
);

test("a session that was altered is not handed off, nor an altered bundle unpacked: 1", async () => {
  const user = await recorded("homeagent");
  const { id, path } = RECORDED.homeagent;
  const output = ["--root", ".", "--output", "a.vbx"];
  assert.equal((await user.run(["export", "--format", "bundle", id, ...output])).code, 0);
  const bundle = readFileSync(join(user.cwd, "a.vbx"), "latin1");
  writeFileSync(join(user.cwd, "b.vbx"), bundle.replace("Deploy it.", "Remove it."), "latin1");
  const altered = await user.run(["import", "b.vbx", "--root", "store"]);
  assert.deepEqual([altered.code, altered.stdout], [1, ""]);
  assert.ok(!existsSync(join(user.cwd, "store")));
  const log = join(user.cwd, path);
  writeFileSync(log, readFileSync(log, "utf8").replace("Deploy it.", "Remove it."));
  const tampered = await user.run([
    "export",
    "--format",
    "bundle",
    id,
    "--root",
    ".",
    "--output",
    "c.vbx",
  ]);
  assert.deepEqual([tampered.code, tampered.stdout], [1, ""]);
  expect(tampered.stderr).toMatch(/is tampered.*restore it from a copy/s);
  assert.ok(!existsSync(join(user.cwd, "c.vbx")));
});

test("a session whose head cannot be pinned is unpacked, with a warning that says how to pin it", async () => {
  const user = await recorded("rye");
  assert.equal(
    (await user.run(["export", "--format", "bundle", "hello", "--output", "a.vbx"])).code,
    0,
  );
  const lock = join(user.home, ".local/state/verbatim/heads.lock");
  rmSync(lock);
  mkdirSync(lock); // Root is refused by it, too.
  const { code, stdout, stderr } = await user.run(["import", "a.vbx", "--root", "store"]);
  assert.deepEqual([code, stdout], [0, "hello-1739012630\n"], stderr);
  expect(stderr).toMatch(
    /could not be pinned.*`verbatim keys head pin hello-1739012630` tries again/,
  );
});

test("a person sees what happened to every line in another dialect", async () => {
  const user = await recorded("rye");
  writeFileSync(join(user.cwd, "notes.md"), "It hangs.\n");
  const handoff = [
    "export",
    "--format",
    "bundle",
    "hello",
    "--output",
    "a.vbx",
    "--summary",
    "notes.md",
    "--json",
  ];
  const [handed] = jsonLines((await user.run(handoff)).stdout);
  assert.equal(handed?.path, join(user.cwd, "a.vbx"));
  const to = ["--dialect", "homeagent", "--root", "home", "--as", "kitchen/s", "--no-sign"];
  const { code, stdout, stderr } = await user.run(["import", "a.vbx", ...to]);
  assert.deepEqual([code, stdout], [0, "kitchen/s\n"]);
  expect(stderr).toMatch(/^kitchen\/s: unsigned; in .*home\/agents.*\(homeagent\)\n/);
  expect(stderr).toMatch(/lines of hello-1739012630 \(rye\): 1 kept, 0 approximated, \d+ dropped/);
  expect(stderr).toMatch(/line \d+: dropped, checkpoint/);
});

test("a file that is not a bundle, or is missing, exits with 7, and wrong usage with 2", async () => {
  const user = await recorded("rye");
  writeFileSync(join(user.cwd, "a.vbx"), "no bundle");
  const bad = await user.run(["import", "a.vbx"]);
  assert.equal(bad.code, 7);
  expect(bad.stderr).toMatch(/not a bundle.*\(BAD_BUNDLE\)/s);
  assert.equal((await user.run(["import", "missing.vbx"])).code, 7);
  assert.equal((await user.run(["export", "--format", "bundle", "nobody"])).code, 7);
  assert.equal(
    (await user.run(["export", "--format", "bundle", "hello", "--summary", "missing.md"])).code,
    2,
  );
  assert.equal((await user.run(["import", "a.vbx", "--dialect", "word"])).code, 2);
});

/** A signed rye thread of two writes, and its thread.json as after the first. */
async function writtenTwice() {
  const user = await recorded("rye");
  const { args, path } = RECORDED.rye;
  const [log, meta] = [join(user.cwd, path), join(user.cwd, dirname(path), "thread.json")];
  const old = readFileSync(meta, "utf8");
  const record = ["record", "--dialect", "rye", "--sign", ...args];
  const ran = await user.run(record, { input: asLines({ type: "thread_complete" }) });
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  return { user, log, meta, old };
}

test("a thread whose thread.json is forged, older or gone is refused as verify and resume do", async () => {
  const { user, meta, old } = await writtenTwice();
  const swapped = readFileSync((await writtenTwice()).meta, "utf8");
  const honest = readFileSync(meta, "utf8");
  const { _signature, _signature2, ...stripped } = JSON.parse(honest);
  const forgeries = {
    escalated: JSON.stringify({ ...JSON.parse(honest), capabilities: ["everything"] }),
    stripped: JSON.stringify(stripped),
    "rolled back": old,
    swapped,
    deleted: null,
  };
  const codes: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(forgeries)) {
    if (text === null) rmSync(meta);
    else writeFileSync(meta, text);
    const [verify, resume, handed, prove, redact] = await Promise.all([
      user.run(["verify", "hello"]),
      user.run(["resume", "hello", "--for", "anthropic"]),
      user.run(["export", "--format", "bundle", "hello", "--output", "a.vbx"]),
      user.run(["redact", "prove", "hello", "--entry", "1", "-o", `${name}.vbp`]),
      user.run(["redact", "hello", "--entry", "1", "--reason", "r", "-o", `${name}.vbd`, "--yes"]),
    ]);
    codes[name] = [verify, resume, handed, prove, redact].map(({ code }) => code);
    assert.equal(handed.stdout, "", name);
    expect(handed.stderr).toContain("its thread.json");
    if (name !== "swapped") expect(handed.stderr).toContain("restore its thread.json from a copy");
    expect(handed.stderr).not.toMatch(/verified;|--vouch|head accept/);
    expect(verify.stdout).not.toMatch(/--vouch|head accept/);
    assert.ok(!existsSync(join(user.cwd, "a.vbx")), name);
  }
  assert.deepEqual(codes, {
    escalated: [1, 1, 1, 1, 1],
    stripped: [1, 1, 1, 1, 1],
    "rolled back": [6, 6, 6, 6, 6],
    swapped: [4, 4, 4, 4, 4], // Signed by a key that this user does not trust.
    deleted: [5, 5, 5, 0, 0], // Signed lines of an incomplete session can be disclosed.
  });
  writeFileSync(meta, honest);
  assert.equal(
    (await user.run(["export", "--format", "bundle", "hello", "--output", "a.vbx"])).code,
    0,
  );
});
