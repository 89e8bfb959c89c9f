/**
 * Forks: their genesis names the parent's signed head, and they are created whole or not at all.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import { LOG_LIMITS } from "../../src/core/base/limits.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { continueSession, type Resumed, resume } from "../../src/doors/resume.ts";
import { readVerifiedThreadMeta } from "../../src/doors/rye.ts";
import { verify } from "../../src/doors/signing.ts";
import { continueResumed } from "../../src/resume/continue.ts";
import { Store } from "../../src/sessions/store/store.ts";
import type { Session } from "../../src/sessions/store/store-api.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import type { SignedHead } from "../../src/trust/proof/checkpoint.ts";
import { addTrust } from "../../src/trust/trusted-keys/trust.ts";
import { errno } from "../support/refusal.ts";
import {
  ALL_SHAPES,
  answered,
  SHAPES,
  type SignedShape,
  SigningUser,
  said,
  turnOf,
} from "../support/signing-user.ts";
import { WatchedFiles } from "../support/watched-files.ts";

const FOR = { for: "openai-chat" } as const;
const shapes = Object.entries(SHAPES);

interface Parent {
  readonly user: SigningUser;
  readonly root: string;
  readonly id: string;
  /** Up to the end of its second turn. */
  readonly resumed: Resumed;
}

async function parentOf(shape: SignedShape): Promise<Parent> {
  const user = new SigningUser();
  const { target } = await user.writeTurns(shape, 3);
  const { root, id } = target;
  return { user, root, id, resumed: await resume(id, { ...FOR, root, upTo: 2 }) };
}

function forkId({ dialect }: SignedShape): string {
  return dialect === "homeagent" ? "kitchen/fork" : "hello-1739012999";
}

/** Where the checkpoints of a session are. */
function checkpointsPath({ path }: Session, { dialect }: Pick<Store, "dialect">): string {
  return dialect === "homeagent" ? `${path}.checkpoints` : path;
}

function genesisIn(text: string): { from: SignedHead | null } {
  const line = text.split("\n").find((each) => each.includes('"kind":"genesis"')) ?? "{}";
  return JSON.parse(line).payload;
}

test.each(shapes)(
  "the genesis of a fork names the parent's signed head and the fork's offset (%s)",
  async (_name, shape) => {
    const { user, root, id, resumed } = await parentOf(shape);
    const parent = await verify(id, { root });
    const store = await user.store({ ...shape, root });
    const { session } = await continueSession(store, resumed, { id: forkId(shape) });
    await store.close();

    const fork = await verify(session.id, { root });
    const { log, signed_through: through } = parent;
    const at = resumed.report.head?.at;
    assert.deepEqual([parent.verdict, parent.from], ["verified", null]);
    assert.deepEqual(
      [fork.verdict, fork.from],
      ["verified", { log, seq: through?.seq, line: through?.line, at }],
    );
    assert.ok(Number(at) > 0 && Number(at) <= parent.file.bytes);
    const { from } = genesisIn(readFileSync(checkpointsPath(session, store), "utf8"));
    assert.deepEqual(from, fork.from);
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "the parent of a fork names it in a signed checkpoint, and stays verified (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target } = await user.writeTurns(shape, 3);
    const { root, id } = target;
    const before = await verify(id, { root });
    const resumed = await resume(id, { ...FOR, root, upTo: 2 });
    const store = await user.store({ ...shape, root });
    const { session, notLinked } = await continueSession(store, resumed);
    await store.close();
    assert.deepEqual([notLinked, user.warnings], [null, []]);
    const fork = await verify(session.id, { root });
    const parent = await verify(id, { root });
    assert.equal(parent.verdict, "verified", JSON.stringify(parent.findings));
    const seq = (before.signed_through?.seq ?? 0) + 1;
    assert.deepEqual(parent.links, [{ seq, id: session.id, log: fork.log }]);
    assert.equal(parent.signed_through?.turns, before.signed_through?.turns);
    assert.equal(parent.freshness, "match");
    if (shape.dialect === "rye") await readVerifiedThreadMeta(root, id);
  },
);

test("a parent that is locked, or not signed by the user's own key, is not linked, but the fork is created", async () => {
  const { user, root, id, resumed } = await parentOf({ dialect: "entire" });
  const shape = { dialect: "entire" } as const;
  const holder = await user.store({ ...shape, root });
  await holder.session(id).openToAppend();
  const store = await user.store({ ...shape, root });
  const locked = await continueSession(store, resumed, { id: "fork-1" });
  assert.match(locked.notLinked ?? "", /LOG_LOCKED|SESSION_BUSY|LOG_BUSY/);
  await holder.close();
  await store.close();
  const own = await loadSigner(nodeHost, user.places);
  const other = new SigningUser();
  const grant = { owner: "Ada", purposes: ["transcript"], sessions: ["**"] } as const;
  await addTrust(nodeHost, other.places, { publicKey: own.publicKey, ...grant }, Date.now());
  const theirs = await other.store({ ...shape, root });
  const again = await resume(id, { ...FOR, root, upTo: 2 });
  const forked = await continueSession(theirs, again, { id: "fork-2" });
  await theirs.close();
  assert.equal(forked.notLinked, "it is not signed by your own key");
  assert.equal((await verify(forked.session.id, { root })).verdict, "verified");
  assert.deepEqual((await verify(id, { root })).links, []);
});

test.each(shapes)(
  "a fork's parent cannot be forged: every field of it is signed (%s)",
  async (_name, shape) => {
    const { user, root, resumed } = await parentOf(shape);
    const store = await user.store({ ...shape, root });
    const { session } = await continueSession(store, resumed, { id: forkId(shape) });
    await store.close();
    const path = checkpointsPath(session, store);
    const honest = readFileSync(path, "utf8");
    const said = `"from":${JSON.stringify(genesisIn(honest).from)}`;
    const { log, seq, line, at } = genesisIn(honest).from as SignedHead;
    const forged: (SignedHead | null)[] = [
      { log: other(log), seq, line, at },
      { log, seq: seq + 1, line, at },
      { log, seq, line: other(line), at },
      { log, seq, line, at: at - 1 },
      null,
    ];
    for (const from of forged) {
      writeFileSync(path, honest.replace(said, `"from":${JSON.stringify(from)}`));
      const { verdict, findings, from: told } = await verify(session.id, { root });
      assert.deepEqual([verdict, findings[0]?.code, told], ["tampered", "SIGNATURE_FALSE", null]);
    }
    writeFileSync(path, honest);
    assert.equal((await verify(session.id, { root })).verdict, "verified");
  },
);

/** Another hash of the same length. */
function other(hex: string): string {
  return hex.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
}

test("a fork of an unsigned session names no head", async () => {
  const user = new SigningUser();
  const shape = { dialect: "homeagent" } as const;
  const { target } = await user.writeTurns(shape, 2, { sign: false });
  const { root, id } = target;
  const resumed = await resume(id, { ...FOR, root, upTo: 1, allowUnsigned: true });
  const store = await user.store({ ...shape, root });
  const { session } = await continueSession(store, resumed, { id: forkId(shape) });
  await store.close();
  const { verdict, from } = await verify(session.id, { root });
  assert.deepEqual([verdict, from], ["verified", null]);
});

test("long lines are copied into a fork, more of them than the log queues at once", async () => {
  const user = new SigningUser();
  const shape = { dialect: "homeagent" } as const;
  const long = "x".repeat(8 * 1024 * 1024);
  const lines = Math.ceil(LOG_LIMITS.queueBytesMax / long.length) + 1;
  const entries = Array.from({ length: lines }, (_, at) => said(`${at} long`));
  const all = [...entries, answered("done"), ...turnOf("more")];
  const { target, path } = await user.write(shape, all, { sign: false }); // Hashing takes long.
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(" long", ` ${long}`));
  const { root, id } = target;
  const resumed = await resume(id, { ...FOR, root, upTo: 1, allowUnsigned: true });
  const store = await user.store({ ...shape, root, sign: false });
  const { session, leftBehind } = await continueSession(store, resumed, { id: forkId(shape) });
  await store.close();
  assert.equal(leftBehind, 0);
  assert.ok(statSync(session.path).size > lines * long.length);
});

test.each(shapes)(
  "a fork that fails halfway leaves nothing behind, whichever call fails (%s)",
  async (_name, shape) => {
    const { user, root, resumed } = await parentOf(shape);
    let refused = 0;
    for (let [fault, isOver] = [0, false]; !isOver; fault++) {
      const id = `${forkId(shape)}${fault}`;
      const before = filesIn(root);
      const disk = new WatchedFiles();
      let calls = 0;
      disk.before = ({ call, name }) => {
        const isLog = /\.jsonl$/.test(name) && (call === "write" || call === "sync");
        if (isLog && calls++ === fault) throw errno("ENOSPC");
        return undefined;
      };
      const store = new Store(disk.host, { ...shape, root, sign: true, onWarning: () => {} });
      const forking = continueResumed(disk.host, store, resumed, { id });
      const outcome = await forking.catch((error: unknown) => error);
      disk.before = () => undefined;
      await store.close();
      if (!(outcome instanceof Error)) {
        // No call failed, or one that only a checkpoint needed: the next checkpoint covers the
        // same.
        isOver = calls <= fault;
        assert.equal((await verify(id, { root })).verdict, "verified", `fault ${fault}`);
        continue;
      }
      refused++;
      assert.deepEqual(filesIn(root), before, `after fault ${fault}`);
      const whose = { ...shape, root, id, logId: "" };
      assert.equal((await user.remembered(whose)).here, null, `after fault ${fault}`);
    }
    assert.ok(refused >= 3, "there are calls that can fail");
  },
);

/** Without the registry of threads, which is rebuilt from the rest. */
function filesIn(root: string): string[] {
  const all = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = all.filter((each) => each.isFile() && !each.name.startsWith("registry.db"));
  return files.map(({ parentPath, name }) => `${parentPath}/${name}`).sort();
}
