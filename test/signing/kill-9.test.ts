/**
 * Signing processes, really killed. One after the other continues a session and is killed with -9 at a
 * random moment. After each kill the verdict reports that lines may be unsigned, never `tampered` or
 * `rollback`; and acknowledged lines are there.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "vitest";
import type { StoreOptions } from "../../src/sessions/store/store.ts";
import { unit } from "../crash/lines.ts";
import { type Child, startChild } from "../support/child.ts";
import { seed, times } from "../support/seed.ts";
import { idFor, SHAPES, SigningUser, turnIn, writtenBy } from "../support/signing-user.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import { killAfter } from "./kill-after.ts";
import type { SigningOrder } from "./signing-child.ts";

const KILLS = 3 * times;

const WAYS: readonly (readonly [string, Partial<StoreOptions>])[] = [
  ["rye-flat", { durability: "disk" }],
  ["rye-payload", { mode: "shared", durability: "os" }],
  ["entire", { mode: "shared", durability: "disk" }],
  ["homeagent", { sign: "append", durability: "os" }],
];

test.for(WAYS)(
  "a signer killed at any moment leaves a log that verifies up to its last checkpoint (%s)",
  async ([name, options]) => {
    const user = new SigningUser();
    const shape = SHAPES[name];
    assert.ok(shape);
    const id = idFor(shape);
    const store = await user.store({ root: diskDirectory(), ...shape, ...options });
    const session = store.session(id);
    const written = writtenBy(store, session);
    const start = (round: number): Child => {
      const settings = { ...shape, ...options, root: store.root };
      const order: SigningOrder = { store: settings, id, name: `round ${round}`, turns: 10_000 };
      return startChild("test/signing/signing-child.ts", JSON.stringify(order));
    };

    const acknowledged: string[] = [];
    let next = start(0);
    for (let round = 0; round < KILLS; round++) {
      const child = next;
      if (round + 1 < KILLS) next = start(round + 1); // It waits for its "go".
      const chance = unit(seed + round, name.length);
      const acks = await killAfter(child, Math.floor(chance * 12), 400 * chance);
      for (let n = 0; n < acks; n++) acknowledged.push(`round ${round} ${n}.`);

      const message = `seed ${seed}, ${name}, round ${round}`;
      const log = existsSync(written.path) ? readFileSync(written.path, "utf8") : "";
      for (const text of acknowledged) assert.ok(log.includes(`"${text}"`), `${message}: ${text}`);
      const { verdict, findings } = await user.verify(written);
      const isHonest = verdict === "verified" || verdict === "incomplete";
      const isNew = acknowledged.length === 0 && ["unsigned", "unreadable"].includes(verdict);
      assert.ok(isHonest || isNew, `${message}: ${verdict} ${JSON.stringify(findings)}`);
    }

    for (const entry of turnIn(session, "the end")) await session.append(entry);
    await store.close();
    const { verdict, tail } = await user.verify(written);
    assert.ok(verdict === "verified" || verdict === "incomplete", verdict);
    assert.equal(tail.bytes, 0);
    assert.deepEqual(user.warnings, []);
  },
);
