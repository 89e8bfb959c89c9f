/** Rotations: after `keys rotate`, sessions and streams hand over to the new key, and readers follow. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { verify } from "../../src/doors/signing.ts";
import { linkSession } from "../../src/resume/fork/fork.ts";
import { loadSigner, rotateKey } from "../../src/trust/keys/keys.ts";
import { addTrust, type Grant, revokeTrust } from "../../src/trust/trusted-keys/trust.ts";
import { memoryHost } from "../support/memory-files.ts";
import { isTried } from "../support/seed.ts";
import { JSON_STREAM, message, RAW_STREAM, SignedStreams } from "../support/signed-streams.ts";
import {
  ALL_SHAPES,
  type SignedShape,
  SigningUser,
  turnOf,
  type Written,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { hasCryptography, runPython } from "./python.ts";

const FLAT = { dialect: "rye", envelope: "flat" } as const;
const SCOPE = { owner: "Ada", purposes: ["transcript"], sessions: ["**"] } as const;

interface Line {
  readonly payload: { readonly kind: string; readonly kid: string; readonly next?: string };
}

interface Recomputed {
  readonly wrong: readonly unknown[];
  readonly checkpoints: number;
}

/** The checkpoints of a session, in the log or in its sidecar. */
function checkpointsOf({ path, sidecarPath, target }: Written): Line["payload"][] {
  const isInside = target.dialect === "rye" || target.dialect === "entire";
  const lines = readFileSync(isInside ? path : sidecarPath, "utf8")
    .split("\n")
    .slice(0, -1);
  const values = lines.map((line) => JSON.parse(line) as Line & { readonly event_type?: string });
  return values.filter((value) => value.event_type === "checkpoint").map(({ payload }) => payload);
}

/** A session with several keys: one turn by each. */
async function rotated(shape: SignedShape, keys = 2) {
  const writer = new SigningUser();
  let written = await writer.write(shape, turnOf("turn 1"));
  const kids = [(await loadSigner(nodeHost, writer.places)).kid];
  const publicKeys = [(await loadSigner(nodeHost, writer.places)).publicKey];
  for (let n = 1; n < keys; n++) {
    const { key } = await rotateKey(nodeHost, writer.places);
    kids.push(key.kid);
    publicKeys.push(key.publicKey);
    written = await writer.write(shape, turnOf(`turn ${n + 1}`), { root: written.target.root });
  }
  assert.deepEqual(writer.warnings, []);
  return { writer, written, kids, publicKeys };
}

/** A reader who trusts only these keys. */
async function reader(publicKeys: readonly Uint8Array[], scope: Partial<Grant> = {}) {
  const user = new SigningUser();
  for (const publicKey of publicKeys) {
    const grant = { publicKey, ...SCOPE, ...scope } as Grant;
    await addTrust(nodeHost, user.places, grant, Date.now());
  }
  return user;
}

test.each(Object.entries(ALL_SHAPES))(
  "a reader who trusts only the old key follows its rotation (%s)",
  async (_name, shape) => {
    const { writer, written, kids, publicKeys } = await rotated(shape);
    const all = checkpointsOf(written);
    const at = all.findIndex(({ kind }) => kind === "rotate");
    assert.deepEqual([all[at]?.kid, all[at]?.next, all[at + 1]?.kid], [kids[0], kids[1], kids[1]]);
    assert.equal(all.filter(({ kind }) => kind === "rotate").length, 1);
    const user = await reader(publicKeys.slice(0, 1));
    for (const isDeep of [true, false]) {
      const report = await user.verify(written, { isDeep } as object);
      assert.equal(report.verdict, "verified", JSON.stringify(report.findings));
      assert.deepEqual(
        report.keys.map(({ kid, owner, trusted, rotated_from: from }) => [
          kid,
          owner,
          trusted,
          from,
        ]),
        [
          [kids[0], "Ada", true, null],
          [kids[1], "Ada", true, kids[0]],
        ],
      );
      const [first = "", second = ""] = kids;
      assert.deepEqual(report.rotations, [{ seq: at + 1, from: first, to: second, named: true }]);
    }
    assert.equal((await writer.verify(written)).verdict, "verified");
    const trust = readFileSync(user.places.trustPath, "utf8");
    assert.ok(!trust.includes(kids[1] ?? ""), "trust is as it was");
  },
);

test("the thread.json of a rotated thread is verified by what the old key is trusted for", async () => {
  const { writer, written, publicKeys } = await rotated(FLAT, 3);
  const { root, id } = written.target;
  const grants: Partial<Grant>[] = [{}, { purposes: ["transcript", "thread"] }];
  for (const grant of grants) {
    await reader(publicKeys.slice(0, 1), grant); // Also sets the environment to this reader.
    const { verdict, findings } = await verify(id, { root });
    assert.equal(verdict, "verified", JSON.stringify(findings));
    const codes = findings.map(({ code }) => code);
    assert.deepEqual(codes, grant.purposes ? [] : ["META_UNTRUSTED"]);
  }
  await reader([]);
  assert.equal((await verify(id, { root })).verdict, "untrusted");
  assert.deepEqual(writer.warnings, []);
});

test("a chain of rotations is followed from its first key, and not from an untrusted one", async () => {
  const { written, publicKeys } = await rotated(FLAT, 4);
  for (const n of [0, 1, 2, 3]) {
    const user = await reader(publicKeys.slice(n, n + 1));
    assert.equal((await user.verify(written)).verdict, "verified", `key ${n}`);
  }
  assert.equal((await (await reader([])).verify(written)).verdict, "untrusted");
});

test("a reader who revoked the old key, or whose trust in it expired or is for other purposes, does not follow", async () => {
  const { written, kids, publicKeys } = await rotated(FLAT);
  const revoked = await reader(publicKeys.slice(0, 1));
  await revokeTrust(nodeHost, revoked.places, { kid: kids[0] ?? "" }, Date.now());
  const scopes: Partial<Grant>[] = [
    { validBefore: "2020-01-01T00:00:00.000Z" },
    { validAfter: "2999-01-01T00:00:00.000Z" },
    { purposes: ["thread"] },
    { sessions: ["ci/**"] },
  ];
  const users = [revoked];
  for (const scope of scopes) users.push(await reader(publicKeys.slice(0, 1), scope));
  for (const user of users) {
    const { verdict, findings } = await user.verify(written);
    assert.deepEqual([verdict, findings[0]?.code], ["untrusted", "KEY_UNKNOWN"]);
  }
});

test("a new key that the reader revoked, or trusts for other purposes, keeps that status", async () => {
  const { written, kids, publicKeys } = await rotated(FLAT);
  const user = await reader(publicKeys);
  await revokeTrust(nodeHost, user.places, { kid: kids[1] ?? "" }, Date.now());
  assert.equal((await user.verify(written)).findings[0]?.code, "KEY_REVOKED");
  const narrow = await reader(publicKeys.slice(0, 1));
  const grant = { publicKey: publicKeys[1] as Uint8Array, ...SCOPE, sessions: ["ci/**"] };
  await addTrust(nodeHost, narrow.places, grant, Date.now());
  assert.equal((await narrow.verify(written)).findings[0]?.code, "KEY_OF_OTHER_PURPOSE");
});

test("if the retired private key was deleted, the new key continues, and the report says so", async () => {
  for (const [name, shape] of Object.entries(ALL_SHAPES)) {
    const writer = new SigningUser();
    const begun = await writer.write(shape, turnOf("one"));
    const { retired } = await rotateKey(nodeHost, writer.places);
    const { root } = begun.target;
    const directory = join(writer.places.keyDirectory, "retired", retired.kid);
    rmSync(join(directory, "private_key.pem"));
    const written = await writer.write(shape, turnOf("two"), { root });
    const kinds = checkpointsOf(written).map(({ kind }) => kind);
    assert.ok(!kinds.includes("rotate"), name);
    const report = await writer.verify(written);
    assert.equal(report.verdict, "verified", name);
    assert.deepEqual(
      report.rotations.map(({ named }) => named),
      [false],
    );
    const user = await reader([retired.publicKey]);
    assert.equal((await user.verify(written)).verdict, "untrusted", name);
  }
});

test("a revoked key cannot hand over to a new one", async () => {
  const writer = new SigningUser();
  const begun = await writer.write(FLAT, turnOf("one"));
  const { retired } = await rotateKey(nodeHost, writer.places);
  await revokeTrust(nodeHost, writer.places, { kid: retired.kid }, Date.now());
  const { root } = begun.target;
  // What a revoked key signed does not count, so nothing is signed on top of it.
  await assert.rejects(writer.write(FLAT, turnOf("two"), { root }), {
    code: "CHECKPOINT_MISMATCH",
  });
});

test("unsigned lines are recorded as found before the key hands over, and are not covered by its signature", async () => {
  for (const [name, shape] of Object.entries(ALL_SHAPES)) {
    const writer = new SigningUser();
    const begun = await writer.write(shape, turnOf("one"));
    const lines = readFileSync(begun.path, "utf8").split("\n").slice(0, -1);
    const line = lines.findLast((each) => each.includes("one: done")) ?? "";
    await rotateKey(nodeHost, writer.places);
    appendFileSync(begun.path, `${line.replace("one: done", "approved")}\n`);
    const { root } = begun.target;
    const written = await writer.write(shape, turnOf("two"), { root });
    const all = checkpointsOf(written).map(({ kind }) => kind);
    const at = all.indexOf("recovery");
    assert.deepEqual(all.slice(at, at + 2), ["recovery", "rotate"], name);
    const report = await writer.verify(written);
    assert.deepEqual([report.verdict, report.found.length], ["incomplete", 1], name);
  }
});

test("opening and closing a session after a rotation writes the hand-over", async () => {
  const writer = new SigningUser();
  const begun = await writer.write(FLAT, turnOf("one"));
  await rotateKey(nodeHost, writer.places);
  const store = await writer.store({ ...FLAT, root: begun.target.root });
  await store.session(begun.target.id).openToAppend();
  await store.close();
  assert.equal(checkpointsOf(begun).at(-1)?.kind, "rotate");
  const { verdict, signed_through: through, findings } = await writer.verify(begun);
  assert.deepEqual([verdict, through?.turns, findings], ["verified", 1, []]);
});

test("a rotation does not change how turns are counted", async () => {
  const counted = (of: Written) => {
    const ours = checkpointsOf(of).filter(({ kind }) => kind !== "rotate");
    return ours.map((payload) => [payload.kind, (payload as { turn?: number }).turn]);
  };
  for (const [name, shape] of Object.entries(ALL_SHAPES)) {
    const writer = new SigningUser();
    let plain = await writer.write(shape, turnOf("turn 1"));
    const { root } = plain.target;
    for (const n of [2, 3]) plain = await writer.write(shape, turnOf(`turn ${n}`), { root });
    const { written, writer: other } = await rotated(shape, 3);
    assert.deepEqual(counted(written), counted(plain), name);
    const turns = async (of: Written, by: SigningUser) => {
      return (await by.verify(of)).signed_through?.turns;
    };
    assert.equal(await turns(written, other), await turns(plain, writer), name);
  }
});

test("an open store opens its next session with the new key", async () => {
  const writer = new SigningUser();
  const begun = await writer.write(FLAT, turnOf("one"));
  const store = await writer.store({ ...FLAT, root: begun.target.root });
  await store.session("other-1739012631").append({ kind: "turn_start" });
  const { key } = await rotateKey(nodeHost, writer.places);
  for (const entry of turnOf("two"))
    await store
      .session(begun.target.id)
      .append(entry)
      .catch(() => {});
  await store.close();
  assert.equal(checkpointsOf(begun).at(-1)?.kid, key.kid);
  assert.ok(checkpointsOf(begun).some(({ kind }) => kind === "rotate"));
});

test("a stranger's key that is named only by the stranger is not followed", async () => {
  const { writer, written, publicKeys } = await rotated(FLAT);
  const { root } = written.target;
  const stranger = await reader(publicKeys);
  // The stranger trusts the victim's keys, continues the session, and rotates their own key.
  await stranger.write(FLAT, turnOf("three"), { root });
  await rotateKey(nodeHost, stranger.places);
  const forged = await stranger.write(FLAT, turnOf("four"), { root });
  assert.equal(checkpointsOf(forged).filter(({ kind }) => kind === "rotate").length, 2);
  const report = await writer.verify(forged);
  assert.deepEqual([report.verdict, report.findings[0]?.code], ["untrusted", "KEY_UNKNOWN"]);
});

test("a rotation that names another key than the one that follows is not valid", async () => {
  const { writer, written, publicKeys } = await rotated(FLAT);
  const text = readFileSync(written.path, "utf8");
  const line = text.split("\n").find((each) => each.includes('"kind":"rotate"')) ?? "";
  writeFileSync(
    written.path,
    text.replace(
      line,
      line.replace(/"next":"(.)/, (_, at) => `"next":"${at === "0" ? 1 : 0}`),
    ),
  );
  assert.equal((await writer.verify(written)).verdict, "tampered");
  const user = await reader(publicKeys.slice(0, 1));
  assert.equal((await user.verify(written)).verdict, "tampered");
});

test.skipIf(!hasCryptography)(
  "Python, with only the old key, computes every checkpoint of a rotated session the same",
  async () => {
    const writer = new SigningUser();
    const { kid } = await loadSigner(nodeHost, writer.places);
    const all: Written[] = [];
    for (const n of [1, 2, 3]) {
      if (n > 1) await writer.rotate();
      for (const [at, shape] of Object.values(ALL_SHAPES).entries()) {
        const root = all[at]?.target.root ?? tempDirectory();
        all[at] = await writer.write(shape, turnOf(`turn ${n}`), { root });
      }
    }
    const pem = join(writer.places.keyDirectory, "retired", kid, "public_key.pem");
    const questions = all.map(({ path, sidecarPath, target }) => {
      const isInside = target.dialect === "rye" || target.dialect === "entire";
      return { log: path, sidecar: isInside ? null : sidecarPath };
    });
    const answers = runPython("recompute.py", [pem], questions) as Recomputed[];
    assert.deepEqual(
      answers.map(({ wrong, checkpoints }) => [wrong, checkpoints]),
      all.map((written) => [[], checkpointsOf(written).length]),
    );
  },
);

test.each([
  ["JSON", JSON_STREAM],
  ["raw", RAW_STREAM],
])(
  "a %s stream hands over to the new key, and a reader who trusts the old one follows",
  async (_name, kind) => {
    const streams = new SignedStreams();
    const { places } = streams.user;
    const store = await streams.open();
    await store.create("/one", kind);
    await store.append("/one", message(1));
    await store.close();
    const old = await loadSigner(nodeHost, places);
    await rotateKey(nodeHost, places);
    for (const n of [2, 3]) {
      const again = await streams.open();
      await again.append("/one", message(n));
      await again.close();
    }
    assert.deepEqual(streams.warnings, []);
    const [file = ""] = streams.files();
    assert.deepEqual(streams.kinds(file), ["genesis", "batch", "rotate", "batch", "batch"]);
    assert.deepEqual(await streams.verdicts(), { "/one": "verified" });

    const other = new SignedStreams(streams.directory);
    await addTrust(nodeHost, other.user.places, { publicKey: old.publicKey, ...SCOPE }, Date.now());
    assert.deepEqual(await other.verdicts(), { "/one": "verified" });
    await revokeTrust(nodeHost, other.user.places, { kid: old.kid }, Date.now());
    assert.deepEqual(await other.verdicts(), { "/one": "untrusted KEY_UNKNOWN" });
  },
);

test("any flipped, deleted or doubled byte in or after a rotation or a link is not verified", async () => {
  const { writer, written } = await rotated(FLAT);
  const store = await writer.store({ ...FLAT, root: written.target.root });
  const to = { id: "hello-1739012999", log: "0".repeat(32) };
  assert.equal(await linkSession(store, written.target.id, to, null), null);
  await store.close();
  const honest = readFileSync(written.path);
  assert.deepEqual(
    (await writer.verify(written)).links.map(({ id }) => id),
    [to.id],
  );
  const judge = async (bytes: Buffer) => {
    const host = memoryHost(new Map([[written.path, new Uint8Array(bytes)]]));
    return (await writer.verify(written, { host })).verdict;
  };
  const start = honest.lastIndexOf("\n", honest.indexOf('"kind":"rotate"')) + 1;
  for (let at = start; at < honest.length; at += 7) {
    const [before, after] = [honest.subarray(0, at), honest.subarray(at + 1)];
    const byte = honest[at] as number;
    const changes = [[byte ^ (1 << (at % 8))], [], [byte, byte]];
    for (const middle of changes.filter((_, nth) => isTried(at + nth, 6))) {
      const verdict = await judge(Buffer.concat([before, Buffer.from(middle), after]));
      assert.notEqual(verdict, "verified", `byte ${at}, ${middle}`);
    }
  }
});
