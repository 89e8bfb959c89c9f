/** thread.json of signed threads: signed at every write, and continued only if it verifies. */

import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readVerifiedThreadMeta, Thread } from "../../src/doors/rye.ts";
import { examineStore } from "../../src/evidence/doctor/examine.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { Store, type StoreOptions } from "../../src/sessions/store/store.ts";
import { storePlaceOf } from "../../src/trust/heads/heads.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { judgeThread } from "../../src/trust/proof/thread-signature.ts";
import { Trust, threadKeys } from "../../src/trust/trusted-keys/trust.ts";
import { SigningUser } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { type FileCall, WatchedFiles } from "../support/watched-files.ts";

const ID = "hello-1739012630";
const START = {
  type: "thread_start",
  model: "m",
  capabilities: ["rye.execute.tool.*"],
  limits: { turns: 20, spend: 0.5 },
};
const END = { type: "thread_complete", cost: { spend: 0.25 } };

class Project {
  readonly user: SigningUser;
  readonly root = tempDirectory();
  readonly path = join(this.root, ".ai/threads", ID, "thread.json");
  readonly logPath = join(dirname(this.path), "transcript.jsonl");

  constructor(user = new SigningUser()) {
    this.user = user;
  }

  /** Opens the thread, runs `work` on it, and closes it cleanly. */
  async with(
    work: (session: Session, store: Store) => Promise<void>,
    options: Partial<StoreOptions> = {},
  ): Promise<void> {
    const store = await this.user.store({ dialect: "rye", root: this.root, ...options });
    await work(store.session(ID), store);
    await store.close();
  }

  get text(): string {
    return readFileSync(this.path, "utf8");
  }

  get meta(): Record<string, unknown> {
    return JSON.parse(this.text);
  }

  put(change: (meta: Record<string, unknown>) => object): void {
    writeFileSync(this.path, JSON.stringify(change(this.meta)));
  }

  async judged() {
    const keys = threadKeys(await Trust.load(this.user.places), ID);
    return judgeThread(this.text, { crypto: nodeCrypto, keys, threadId: ID });
  }

  /** The verdict in the refusal to read it as verified; null if it is read. */
  async refusal(): Promise<string | null> {
    try {
      await readVerifiedThreadMeta(this.root, ID);
      return null;
    } catch (cause) {
      const { code, details } = cause as { code: string; details: { verdict: string } };
      assert.equal(code, "NOT_VERIFIED");
      return details.verdict;
    }
  }

  /** The checkpoints in the log. */
  get checkpoints(): { seq: number; byte_offset: number; rev: number }[] {
    const lines = readFileSync(this.logPath, "utf8").trim().split("\n");
    const events = lines.map((line) => JSON.parse(line));
    return events.filter(({ type }) => type === "checkpoint").map(({ payload }) => payload);
  }
}

test.each([
  ["disk", "exclusive"],
  ["os", "exclusive"],
  ["disk", "shared"],
  ["os", "shared"],
] as const)(
  "every write of thread.json is signed, with a higher revision and the newest head (%s, %s)",
  async (durability, mode) => {
    const project = new Project();
    const seen: { rev: unknown; head: unknown }[] = [];
    const look = async () => {
      const verdict = await project.judged();
      assert.ok(verdict.ok, JSON.stringify(verdict));
      const { rev, head } = project.meta;
      const newest = project.checkpoints.at(-1);
      assert.deepEqual(head, { ...(head as object), seq: newest?.seq });
      if (seen.at(-1)?.rev !== rev) seen.push({ rev, head });
    };
    const options = { durability, mode };
    await project.with(async (session) => {
      await session.appendNative(START);
      await look();
      await session.appendNative({ type: "user_message", text: "hi" });
    }, options);
    await project.with(async (session) => {
      await session.appendNative({ type: "step_start" });
      await session.appendNative(END);
      await session.addCheckpoints(async () => []); // All earlier writes are done.
      const { rev } = project.meta;
      assert.equal(project.checkpoints.at(-1)?.rev, rev, "the last checkpoint names the revision");
    }, options);
    assert.deepEqual(project.user.warnings, []);
    assert.equal(await project.refusal(), null);
    const { capabilities, limits, status } = await readVerifiedThreadMeta(project.root, ID);
    assert.deepEqual([capabilities, limits], [START.capabilities, START.limits]);
    assert.equal(status, "completed");
    const revs = project.checkpoints.map(({ rev }) => rev);
    assert.deepEqual(revs, [...revs].sort(), "revisions never fall");
  },
);

test("an older thread.json that is restored is a rollback, and is not signed again", async () => {
  const project = new Project();
  await project.with(async (session) => {
    await session.appendNative(START);
    copyFileSync(project.path, `${project.path}.old`);
    await session.appendNative(END);
  });
  assert.equal(await project.refusal(), null);
  copyFileSync(`${project.path}.old`, project.path);
  assert.equal(await project.refusal(), "rollback");

  await project.with(async (session) => {
    await session.appendNative({ type: "user_message", text: "go on" });
  });
  assert.equal(await project.refusal(), "unsigned");
  expect(project.user.warnings.join()).toContain("an older revision than the log knows of");
});

test("an altered thread.json is refused, and the next writer does not sign it", async () => {
  const project = new Project();
  await project.with(async (session) => void (await session.appendNative(START)));
  project.put((meta) => ({ ...meta, capabilities: ["everything"] }));
  assert.equal(await project.refusal(), "tampered");

  await project.with(async (session) => void (await session.appendNative(END)));
  assert.deepEqual(project.meta.capabilities, ["everything"], "and nothing in it is lost");
  assert.equal(await project.refusal(), "unsigned");
  expect(project.user.warnings.join()).toContain("without a signature");
  expect(project.user.warnings.join()).not.toContain("everything");
});

test("a thread.json that was rebuilt, is another thread's, or is missing, is not verified", async () => {
  const project = new Project();
  await project.with(async (session) => void (await session.appendNative(START)));
  const good = project.text;
  rmSync(project.path);
  assert.equal(await project.refusal(), "unsigned");
  await project.with(async (session) => void (await session.appendNative(END)));
  assert.ok((await project.judged()).ok, "it is signed, for what it is");
  assert.equal(await project.refusal(), "untrusted");

  const other = new Project();
  await other.with(async (session) => void (await session.appendNative(START)));
  writeFileSync(other.path, good);
  assert.equal(await other.refusal(), "untrusted", "another user's key");
});

/** Two threads of the same name and key, with different content. */
async function namesakes(): Promise<readonly [Project, Project]> {
  const user = new SigningUser();
  const [project, other] = [new Project(user), new Project(user)];
  await project.with(async (session) => void (await session.appendNative(START)));
  await other.with(async (session) => {
    await session.appendNative({ ...START, capabilities: ["everything"] });
  });
  return [project, other];
}

const NOT_IN_LOG = "it names a checkpoint that is not in";

test("the thread.json of a namesake in another place is refused, and the next writer does not sign it", async () => {
  const [project, other] = await namesakes();
  copyFileSync(other.path, project.path);
  assert.ok((await project.judged()).ok, "its signatures hold");
  assert.equal(await project.refusal(), "tampered");

  await project.with(async (session) => void (await session.appendNative(END)));
  assert.equal(await project.refusal(), "unsigned");
  expect(project.user.warnings.join()).toContain(NOT_IN_LOG);
});

test("the thread.json of an earlier thread in the same place is refused", async () => {
  const project = new Project();
  await project.with(async (session) => {
    await session.appendNative({ ...START, capabilities: ["everything"] });
  });
  const before = project.text;
  rmSync(dirname(project.path), { recursive: true });
  const place = await storePlaceOf(nodeHost, { dialect: "rye", root: project.root });
  await project.user.heads.forget({ place, id: ID });
  await project.with(async (session) => void (await session.appendNative(START)));
  assert.equal(await project.refusal(), null);
  writeFileSync(project.path, before);
  assert.equal(await project.refusal(), "tampered");
});

test("the thread.json of a copy that was continued separately is refused, by readers and live signers", async () => {
  const project = new Project();
  await project.with(async (session) => void (await session.appendNative(START)));
  const copy = new Project(project.user);
  cpSync(dirname(project.path), dirname(copy.path), { recursive: true });
  const step = { type: "step_start", turn_number: 1 };
  const goOn = async (session: Session) => {
    for (const native of [step, step, END]) await session.appendNative(native);
  };
  await copy.with(goOn);
  await project.with(async (session) => {
    await goOn(session);
    copyFileSync(copy.path, project.path);
    assert.equal(await project.refusal(), "tampered");
    // Another program's line, so that the signer reads the current file.
    appendFileSync(project.logPath, `{"ts":"now","type":"note","thread_id":"${ID}"}\n`);
    await session.appendNative({ type: "user_message", text: "go on" });
    assert.equal(project.meta._signature, undefined);
  });
  expect(project.user.warnings.join()).toContain(NOT_IN_LOG);
});

test.each([
  ["exclusive", 1],
  ["shared", 1],
  ["shared", 2],
] as const)(
  "a thread.json that names an old checkpoint is continued (%s, by %i)",
  async (mode, signers) => {
    const project = new Project();
    const options = { mode };
    await project.with(async (session) => void (await session.appendNative(START)), options);
    const named = project.meta.head;
    const where = { dialect: "rye", root: project.root, ...options } as const;
    const opened: { store: Store; session: Session }[] = [];
    for (let n = 0; n < signers; n++) {
      const store = await project.user.store(where);
      opened.push({ store, session: store.session(ID) });
    }
    for (let turn = 0; turn < 6; turn++) {
      const { session } = opened[turn % signers] ?? assert.fail();
      await session.appendNative({ type: "step_start", turn_number: turn });
      await session.appendNative({ type: "assistant_text", text: "hi" });
    }
    if (mode === "shared") assert.deepEqual(project.meta.head, named, "nothing of it has changed");
    await opened[0]?.session.appendNative(END);
    for (const { store } of opened) await store.close();
    assert.deepEqual(project.user.warnings, []);
    assert.equal(await project.refusal(), null);
  },
);

test("the checkpoint that a thread.json names is on the disk before it, also with `os`", async () => {
  new SigningUser();
  const watched = new WatchedFiles();
  const root = tempDirectory();
  const store = new Store(watched.host, {
    dialect: "rye",
    root,
    agent: "hello",
    sign: true,
    durability: "os",
    markdown: false,
  });
  const session = store.session(ID);
  await session.appendNative(START);
  await session.appendNative({ type: "step_start", turn_number: 1 });
  await session.appendNative({ type: "assistant_text", text: "hi" });
  await store.close();
  const isOfLog = ({ call, name }: FileCall) =>
    name === "transcript.jsonl" && (call === "write" || call === "sync");
  const renames = watched.calls.flatMap((call, at) =>
    call.call === "rename" && call.name.includes("thread.json") ? [at] : [],
  );
  assert.ok(renames.length >= 2);
  for (const at of renames) {
    assert.equal(watched.calls.slice(0, at).filter(isOfLog).at(-1)?.call, "sync");
  }
  assert.equal((await readVerifiedThreadMeta(root, ID)).status, "paused");
});

test("an unsigned store drops signatures that its change invalidates", async () => {
  const project = new Project();
  await project.with(async (session) => void (await session.appendNative(START)));
  project.put((meta) => ({ ...meta, odd: [1, null] }));
  await project.with(async (session) => void (await session.appendNative(END)), { sign: false });
  const { _signature, _signature2, odd } = project.meta;
  assert.deepEqual([_signature, _signature2, odd], [undefined, undefined, [1, null]]);
  assert.equal(await project.refusal(), "unsigned");
});

test("numbers of other programs keep their spelling through every signed write", async () => {
  const project = new Project();
  await project.with(async (session) => {
    const native = JSON.parse('{"type":"thread_start","limits":{"spend":1.5,"n":1e22}}');
    await session.appendNative(native);
  });
  assert.ok(project.text.includes('"n": 1e+22'), project.text);
  const again = project.text;
  await project.with(async (session) => void (await session.appendNative(END)));
  assert.ok(project.text.includes('"n": 1e+22') && project.text !== again);
  assert.equal(await project.refusal(), null);
});

test("a thread.json that cannot be signed is still written, unsigned, with a warning", async () => {
  const project = new Project();
  await project.with(async (session) => {
    await session.appendNative({ ...START, inputs: { half: "\ud800" } });
  });
  assert.equal(project.meta._signature, undefined);
  assert.equal(await project.refusal(), "unreadable");
  expect(project.user.warnings.join()).toContain("without a signature");
});

test("doctor has no finding for a signed thread", async () => {
  const project = new Project();
  await project.with(async (session) => {
    await session.appendNative(START);
    await session.appendNative(END);
  });
  const findings: unknown[] = [];
  const { nodeSurroundings: surroundings } = await import(
    "../../src/core/base/node-surroundings.ts"
  );
  const doctor = { host: nodeHost, surroundings, nowMs: Date.now, onProgress: () => {} };
  for await (const step of examineStore(doctor, { dialect: "rye", root: project.root })) {
    if ("finding" in step) findings.push(step.finding);
  }
  assert.deepEqual(findings, []);
});

test("a runner's thread is signed with its thread.json", async () => {
  const user = new SigningUser();
  const projectPath = tempDirectory();
  const thread = await Thread.start({
    projectPath,
    directive: "hello",
    limits: { turns: 1 },
    sign: true,
  });
  await thread.step(async () => void (await thread.assistantText("hi")));
  await thread.complete();
  const meta = await readVerifiedThreadMeta(projectPath, thread.id);
  assert.deepEqual([meta.status, meta.limits, user.warnings], ["completed", { turns: 1 }, []]);
});
