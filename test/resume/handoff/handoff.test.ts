/** Handing a session over: verified before, byte for byte there, verified after (S4-7). */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { nodeSurroundings } from "../../../src/core/base/node-surroundings.ts";
import type { DialectName } from "../../../src/dialects/registry.ts";
import { examineStore } from "../../../src/evidence/doctor/examine.ts";
import { unpackBundle } from "../../../src/resume/handoff/unpack.ts";
import { startChild } from "../../support/child.ts";
import { errno, refusal } from "../../support/refusal.ts";
import { SHAPES, said, turnIn, type Written } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { settledTreeAt, treeAt } from "../../support/tree.ts";
import { WatchedFiles } from "../../support/watched-files.ts";
import { HandingUser, TALK } from "./handing.ts";

const shapes = Object.entries(SHAPES);
/** The derived file of an unpacked log. */
const DERIVED: Partial<Record<DialectName, string>> = {
  rye: "transcript.md",
  entire: "prompt.txt",
};

test.each(shapes)(
  "a session is handed to a colleague byte for byte, and is verified there (%s, S4-7)",
  async (_name, shape) => {
    const [ada, ben] = [new HandingUser(), new HandingUser()];
    const written = await ada.write(shape, TALK);
    const { path, manifest } = await ada.handoff(written);
    await ben.enter();
    await ben.trust(ada, ["transcript", "thread"]);
    const unpacked = await ben.unpack(path);
    assert.equal(unpacked.verdict, "verified");
    assert.equal(unpacked.session, written.target.id);
    const lines = readFileSync(written.path, "utf8").split("\n").length - 1;
    const { byteExact, entries, kept, changes } = unpacked.fidelity;
    assert.deepEqual([byteExact, entries, kept, changes], [true, lines, lines, []]);
    for (const name of [basename(written.path), basename(written.sidecarPath), "thread.json"]) {
      const [before, after] = [written.path, unpacked.path].map((each) => {
        const file = join(dirname(each), name);
        return existsSync(file) ? readFileSync(file) : null;
      });
      assert.deepEqual(after, before, name);
    }
    const derived = DERIVED[shape.dialect] ?? "";
    assert.ok(existsSync(join(dirname(unpacked.path), derived)), "what follows the log is made");
    const doctor = { host: nodeHost, surroundings: nodeSurroundings, nowMs: Date.now };
    for await (const step of examineStore(doctor, { dialect: shape.dialect, root: ben.home })) {
      assert.ok("session" in step, `doctor finds ${JSON.stringify(step)}`);
    }
    assert.deepEqual([manifest.session, manifest.dialect], [written.target.id, shape.dialect]);
    assert.deepEqual(ben.warnings, []);
    const target = { ...written.target, root: ben.home };
    const { here } = await ben.remembered(target);
    assert.equal(here?.line, manifest.head.line, "its head is pinned where it is now");
  },
);

/** What an attacker, a crash or a colleague does to a log, and the verdict. */
const HARM: Readonly<
  Record<string, (written: Written, user: HandingUser) => Promise<void> | void>
> = {
  tampered: ({ path }) => {
    writeFileSync(path, readFileSync(path, "utf8").replace("turn 2: done", "turn 2: gone"));
  },
  rollback: ({ path, sidecarPath }) => {
    const proof = existsSync(sidecarPath) ? sidecarPath : path;
    const lines = readFileSync(proof, "utf8").split("\n");
    const last = lines.findLastIndex(
      (line, at) => at < lines.length - 2 && line.includes('"sig2"'),
    );
    writeFileSync(proof, `${lines.slice(0, last + 1).join("\n")}\n`);
    if (proof === path) return;
    const { byte_offset: end } = JSON.parse(lines[last] ?? "").payload;
    writeFileSync(path, readFileSync(path).subarray(0, end));
  },
  unsigned: async ({ path, sidecarPath, target }, user) => {
    rmSync(path);
    rmSync(sidecarPath, { force: true });
    rmSync(user.places.stateDirectory, { recursive: true }); // No pin says that it was signed.
    const { root, id } = target;
    const store = await user.store({ dialect: target.dialect, root, sign: false });
    const session = store.session(id);
    for (const entry of turnIn(session, "turn 1")) await session.append(entry);
    await store.close();
  },
  incomplete: async ({ target }, user) => {
    const { root, id, dialect } = target;
    const store = await user.store({ dialect, root, sign: false });
    await (await store.open(id)).append(said("more"));
    await store.close();
  },
};

test.each(
  shapes.flatMap(([name, shape]) =>
    Object.keys(HARM).map((verdict) => [name, verdict, shape] as const),
  ),
)("%s: a session that is %s is not handed off, and no file is made (S4-7)", async (...named) => {
  const [, verdict, shape] = named;
  const ada = new HandingUser();
  const written = await ada.writeTurns(shape, 3);
  await HARM[verdict]?.(written, ada);
  const folder = tempDirectory();
  const error = await refusal(
    ada.handoff(written, { output: join(folder, "a.vbx") }),
    "NOT_VERIFIED",
  );
  assert.equal(error.details.verdict, verdict);
  expect(error.message).toMatch(/restore|--vouch/);
  assert.deepEqual(readdirSync(folder), []);
});

test("unsigned lines are not handed off, even with a lenient policy", async () => {
  const ada = new HandingUser();
  const written = await ada.writeTurns({ dialect: "rye" }, 1);
  await HARM.incomplete?.(written, ada);
  process.env.VERBATIM_TRANSCRIPT_INTEGRITY = "lenient";
  try {
    const { details } = await refusal(ada.handoff(written), "NOT_VERIFIED");
    assert.equal(details.verdict, "incomplete");
  } finally {
    process.env.VERBATIM_TRANSCRIPT_INTEGRITY = undefined;
    Reflect.deleteProperty(process.env, "VERBATIM_TRANSCRIPT_INTEGRITY");
  }
});

test("a session that another process writes is not handed off", async () => {
  const ada = new HandingUser();
  const written = await ada.writeTurns({ dialect: "rye" }, 1);
  const holder = startChild("test/support/lock-holder.ts", `${written.path}.lock`);
  assert.equal(await holder.line(), "held");
  const { message } = await refusal(ada.handoff(written), "SESSION_BUSY");
  expect(message).toMatch(/wait until that ends$/);
  await holder.kill();
  await ada.handoff(written);
});

test("a bundle is a plain tar, readable by tar, and its texts for people say that they are derived", async () => {
  const ada = new HandingUser();
  const written = await ada.write({ dialect: "homeagent" }, TALK);
  const { path, manifest } = await ada.handoff(written, { summary: "All is well." });
  const tar = (...args: string[]) => execFileSync("tar", args).toString("utf8");
  const names = tar("-tf", path).trimEnd().split("\n");
  assert.deepEqual(names, [...manifest.members.map(({ name }) => name), "manifest.json"]);
  assert.deepEqual(names, [
    "log.jsonl",
    "checkpoints.jsonl",
    "derived/usage.json",
    `keys/${manifest.kid}.pem`,
    "derived/transcript.md",
    "derived/summary.md",
    "manifest.json",
  ]);
  assert.equal(tar("-xOf", path, "log.jsonl"), readFileSync(written.path, "utf8"));
  for (const name of ["derived/transcript.md", "derived/summary.md"]) {
    expect(tar("-xOf", path, name)).toMatch(/^<!-- derived: .*it proves nothing/);
  }
  expect(tar("-xOf", path, "derived/transcript.md")).toContain("I deploy.");
  expect(tar("-xOf", path, "derived/summary.md")).toContain("All is well.");
  const usage = JSON.parse(tar("-xOf", path, "derived/usage.json"));
  assert.deepEqual([usage.derived, usage.model], [true, "claude-opus-4-5"]);
  expect(tar("-xOf", path, `keys/${manifest.kid}.pem`)).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
  assert.ok(!readFileSync(path).includes(written.target.root), "no path of this machine is in it");
});

test("a bundle says at which commit of which repository, without credentials", async () => {
  const ada = new HandingUser();
  const written = await ada.writeTurns({ dialect: "rye" }, 1);
  const { root } = written.target;
  const git = (...args: string[]) => {
    const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    return execFileSync("git", ["-C", root, ...who, ...args])
      .toString("utf8")
      .trim();
  };
  git("init", "-q");
  assert.equal((await ada.handoff(written)).manifest.git, null);
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("remote", "add", "origin", "https://ada:s3cret@example.org/ada/oven.git?token=s3cret");
  const { manifest, path } = await ada.handoff(written);
  const remote = "https://example.org/ada/oven.git";
  assert.deepEqual(manifest.git, { remote, commit: git("rev-parse", "HEAD") });
  assert.ok(!readFileSync(path).includes("s3cret"));
  for (const url of ["ext::sh -c id", "/srv/git/oven.git", "ssh://-oProxyCommand=id/x"]) {
    git("remote", "set-url", "origin", url);
    const handed = await ada.handoff(written);
    assert.deepEqual(handed.manifest.git, { remote: null, commit: git("rev-parse", "HEAD") });
    assert.equal(handed.remoteDoubt, "it is not an https, ssh or git address");
  }
});

test.each(["entire", "verbatim"] as const)(
  "spilled files of a log are in its bundle (%s)",
  async (dialect) => {
    const ada = new HandingUser();
    const long = "x".repeat(9 * 1024 * 1024);
    const written = await ada.write({ dialect }, [said("short"), said(long)]);
    const { path } = await ada.handoff(written);
    const root = tempDirectory();
    const unpacked = await ada.unpack(path, { root });
    const spills = (each: string) =>
      readdirSync(dirname(each)).filter((name) => /spill$/.test(name));
    const [name = ""] = spills(written.path);
    assert.deepEqual(spills(unpacked.path), [name]);
    const [before, after] = [written.path, unpacked.path].map((each) => {
      return readFileSync(join(dirname(each), name));
    });
    assert.ok(before && after && before.equals(after));
  },
);

test("a thread.json by a key trusted only for transcripts is left out", async () => {
  const [ada, ben] = [new HandingUser(), new HandingUser()];
  const written = await ada.write({ dialect: "rye" }, TALK);
  const { path } = await ada.handoff(written);
  await ben.enter();
  await ben.trust(ada);
  const unpacked = await ben.unpack(path);
  assert.equal(unpacked.verdict, "verified");
  expect(ben.warnings.join()).toMatch(/thread\.json .*was left out \(untrusted key\)/);
  const meta = JSON.parse(readFileSync(join(dirname(unpacked.path), "thread.json"), "utf8"));
  assert.equal(meta.reconstructed, true);
});

test("an untrusted key is refused, even if the bundle has it", async () => {
  const [ada, ben] = [new HandingUser(), new HandingUser()];
  const { path } = await ada.handoff(await ada.writeTurns({ dialect: "entire" }, 1));
  await ben.enter();
  const before = await settledTreeAt(ben.home);
  const error = await refusal(ben.unpack(path), "NOT_VERIFIED");
  assert.equal(error.details.verdict, "untrusted");
  expect(error.message).toMatch(/trust add/);
  assert.deepEqual(treeAt(ben.home), before);
});

test("a session that is there already is not touched, and its own dialect allows no other id", async () => {
  const ada = new HandingUser();
  const written = await ada.writeTurns({ dialect: "homeagent" }, 1);
  const { path } = await ada.handoff(written);
  const { root, id } = written.target;
  const before = await settledTreeAt(root);
  const there = await refusal(ada.unpack(path, { root }), "SESSION_EXISTS");
  assert.deepEqual(there.details, { session: id });
  assert.deepEqual(treeAt(root), before);
  await refusal(ada.unpack(path, { root: tempDirectory(), id: "other/one" }), "BAD_ID");
});

test("with requirePin, a session without a pinned head is refused", async () => {
  const [ada, ben] = [new HandingUser(), new HandingUser()];
  const written = await ada.writeTurns({ dialect: "entire" }, 1);
  const { path } = await ada.handoff(written, { requirePin: true });
  await ben.enter();
  await ben.trust(ada);
  const { details } = await refusal(ben.unpack(path, { requirePin: true }), "NOT_VERIFIED");
  assert.equal(details.verdict, "unpinned");
});

test("a bundle that is older than its log's pinned head is a rollback", async () => {
  const ada = new HandingUser();
  const written = await ada.writeTurns({ dialect: "rye" }, 1);
  const { path } = await ada.handoff(written);
  const store = await ada.store({ dialect: "rye", root: written.target.root });
  const session = await store.open(written.target.id);
  for (const entry of turnIn(session, "turn 2")) await session.append(entry);
  await store.close();
  const { details } = await refusal(ada.unpack(path, { root: tempDirectory() }), "NOT_VERIFIED");
  assert.equal(details.verdict, "rollback");
});

test.each(["rye", "homeagent", "entire"] as const)(
  "%s: when a write fails nothing is left, whichever it is",
  async (dialect) => {
    const ada = new HandingUser();
    const { path } = await ada.handoff(await ada.write({ dialect }, TALK));
    const isOurs = (name: string) => /\.tmp$|thread\.json$|checkpoints$/.test(name);
    for (let fault = 0; ; fault++) {
      const root = tempDirectory();
      const disk = new WatchedFiles();
      let calls = 0;
      disk.before = ({ call, name, mode }) => {
        const isWriting = call !== "close" && call !== "read" && mode !== "read" && isOurs(name);
        if (isWriting && calls++ === fault) throw errno("ENOSPC");
        return undefined;
      };
      const unpacking = unpackBundle(disk.host, path, { root, onWarning: () => {} });
      const outcome = await unpacking.catch((error: unknown) => error);
      if (!(outcome instanceof Error)) {
        assert.ok(fault >= 4, "there are writes that can fail");
        return;
      }
      await refusal(Promise.reject(outcome), "NO_SPACE");
      const left = readdirSync(root, { recursive: true, withFileTypes: true });
      const files = left.filter((each) => each.isFile()).map(({ name }) => name);
      assert.deepEqual(files, [], `after fault ${fault}`);
    }
  },
);

test("a bundle that cannot be written leaves the existing file of its name", async () => {
  const ada = new HandingUser();
  const written = await ada.writeTurns({ dialect: "rye" }, 1);
  const output = join(tempDirectory(), "a.vbx");
  writeFileSync(output, "before");
  await refusal(ada.handoff(written, { output: written.path }), "IO_ERROR");
  await refusal(ada.handoff(written, { output: dirname(output) }), "IO_ERROR");
  appendFileSync(written.path, "torn");
  await refusal(ada.handoff(written, { output }), "NOT_VERIFIED");
  assert.equal(readFileSync(output, "utf8"), "before");
  assert.deepEqual(readdirSync(dirname(output)), ["a.vbx"]);
});
