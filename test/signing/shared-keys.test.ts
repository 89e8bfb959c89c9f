/** Keys that change while sessions are being written: rotated and revoked under live signers. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { readVerifiedThreadMeta } from "../../src/doors/rye.ts";
import { loadSigner, rotateKey } from "../../src/trust/keys/keys.ts";
import { revokeTrust } from "../../src/trust/trusted-keys/trust.ts";
import { refusal } from "../support/refusal.ts";
import {
  ALL_SHAPES,
  idFor,
  type SignedShape,
  SigningUser,
  said,
  turnIn,
  writtenBy,
} from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/**
 * A live signer, and then a second one of the same session, with an action of the user in between.
 */
async function twoSigners<T>(shape: SignedShape, between: (user: SigningUser) => Promise<T>) {
  const user = new SigningUser();
  const where = { ...shape, root: tempDirectory(), mode: "shared" } as const;
  const store = await user.store(where);
  const session = store.session(idFor(shape));
  for (const entry of turnIn(session, "by one")) await session.append(entry);
  const done = await between(user);
  const other = await user.store(where);
  const same = other.session(session.id);
  for (const entry of turnIn(same, "by another")) await same.append(entry);
  await other.close();
  return { user, store, session, done };
}

test.each(Object.entries(ALL_SHAPES))(
  "a live signer continues after lines that another one signed with the user's new key (%s)",
  async (_name, shape) => {
    const rotate = (user: SigningUser) => rotateKey(nodeHost, user.places);
    const { user, store, session, done } = await twoSigners(shape, rotate);
    for (const entry of turnIn(session, "by the first again")) await session.append(entry);
    await store.close();
    assert.deepEqual(user.warnings, []);
    const { verdict, keys, findings } = await user.verify(writtenBy(store, session));
    assert.equal(verdict, "verified", JSON.stringify(findings));
    assert.deepEqual(
      new Set(keys.map(({ kid }) => kid)),
      new Set([done.key.kid, done.retired.kid]),
    );
  },
);

test.each(Object.entries(ALL_SHAPES))(
  "a live signer does not continue after lines signed with a key that was revoked since (%s)",
  async (_name, shape) => {
    const load = (user: SigningUser) => loadSigner(nodeHost, user.places);
    const { user, store, session, done } = await twoSigners(shape, load);
    await revokeTrust(nodeHost, user.places, { kid: done.kid }, Date.now());
    await refusal(session.append(said("on it goes")), "CHECKPOINT_MISMATCH");
    await store.close();
  },
);

test("a live signer continues from a thread.json that another one signed with the user's new key", async () => {
  const user = new SigningUser();
  const where = { dialect: "rye", root: tempDirectory(), mode: "shared" } as const;
  const store = await user.store(where);
  const session = store.session(idFor(where));
  await session.appendNative({ type: "thread_start", capabilities: ["read"] });
  await rotateKey(nodeHost, user.places);
  const other = await user.store(where);
  await other.session(session.id).appendNative({ type: "thread_error", error_code: "e" });
  await other.close();
  await session.appendNative({ type: "thread_complete", cost: { spend: 1 } });
  await store.close();
  assert.deepEqual(user.warnings, []);
  const { status, capabilities } = await readVerifiedThreadMeta(where.root, session.id);
  assert.deepEqual([status, capabilities], ["completed", ["read"]]);
});
