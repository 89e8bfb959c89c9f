/**
 * Method: the SDK's own MemorySession is the model. After any operations both return the same; ours
 * also when it is reopened, by another process, or while another one works on it.
 */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { type AgentInputItem, MemorySession } from "@openai/agents-core";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import { runs } from "../../../test/support/seed.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { VerbatimSession, type VerbatimSessionOptions } from "./session.ts";

function openSession(options: VerbatimSessionOptions = {}): VerbatimSession {
  const session = new VerbatimSession({
    sessionId: "s",
    durability: "os",
    root: tempDirectory(),
    ...options,
  });
  onTestFinished(() => session.close());
  return session;
}

function user(content: string): AgentInputItem {
  return { type: "message", role: "user", content };
}

function call(callId: string, name = "look"): Extract<AgentInputItem, { type: "function_call" }> {
  return { type: "function_call", callId, name, arguments: '{"at":1}', status: "completed" };
}

const anyItem: fc.Arbitrary<AgentInputItem> = fc.oneof(
  fc.string({ unit: "binary" }).map(user),
  fc.constantFrom("c1", "c2").map((id) => call(id)),
  fc.record({
    type: fc.constant("unknown" as const),
    // JSON has no -0.
    providerData: fc
      .dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })
      .map((data): typeof data => JSON.parse(JSON.stringify(data))),
  }),
);

type Deed =
  | { readonly do: "add"; readonly items: AgentInputItem[] }
  | { readonly do: "pop" | "clear" | "reopen" | "interfere" }
  | { readonly do: "get"; readonly limit: number }
  | { readonly do: "replace"; readonly callId: string }
  | { readonly do: "transact"; readonly id: string; readonly items: AgentInputItem[] }
  | {
      readonly do: "swap";
      readonly id: string;
      readonly count: number;
      readonly by: AgentInputItem;
    };

const anyItems = fc.array(anyItem, { maxLength: 4 });
const anyId = fc.constantFrom("o1", "o2", "o3");
const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), items: anyItems }) },
  fc
    .constantFrom("pop", "pop", "clear", "reopen", "interfere")
    .map((name) => ({ do: name }) as Deed),
  fc.record({ do: fc.constant("get" as const), limit: fc.integer({ min: -1, max: 5 }) }),
  fc.record({ do: fc.constant("replace" as const), callId: fc.constantFrom("c1", "c2") }),
  fc.record({ do: fc.constant("transact" as const), id: anyId, items: anyItems }),
  fc.record({
    do: fc.constant("swap" as const),
    id: anyId,
    count: fc.nat({ max: 3 }),
    by: anyItem,
  }),
);

/** A session's result, or its refusal. */
async function answerOf(session: MemorySession | VerbatimSession, deed: Deed): Promise<unknown> {
  try {
    switch (deed.do) {
      case "add":
        return await session.addItems(deed.items);
      case "pop":
        return await session.popItem();
      case "clear":
        return await session.clearSession();
      case "get":
        return await session.getItems(deed.limit);
      case "replace": {
        const replacement = call(deed.callId, "replaced");
        const mutation = {
          type: "replace_function_call",
          callId: deed.callId,
          replacement,
        } as const;
        return await session.applyHistoryMutations({ mutations: [mutation] });
      }
      case "transact": {
        const transaction = { type: "append_items", items: deed.items } as const;
        return await session.applyHistoryTransaction({ operationId: deed.id, transaction });
      }
      case "swap": {
        const expectedSuffix = await session.getItems(deed.count);
        const type = "replace_suffix" as const;
        const transaction = { type, expectedSuffix, replacement: [deed.by] };
        return await session.applyHistoryTransaction({ operationId: deed.id, transaction });
      }
      default:
        return assert.fail("that is done by the test itself");
    }
  } catch {
    return "refused";
  }
}

test("a session behaves like the SDK's own, also reopened and with another writer", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyDeed, { maxLength: 16 }), async (deeds) => {
      const root = tempDirectory();
      const model = new MemorySession({ sessionId: "s" });
      let [ours, other] = [openSession({ root }), openSession({ root })];
      for (const deed of deeds) {
        if (deed.do === "reopen") {
          await ours.close();
          ours = openSession({ root });
        } else if (deed.do === "interfere") {
          [ours, other] = [other, ours];
        } else {
          assert.deepEqual(await answerOf(ours, deed), await answerOf(model, deed));
        }
      }
      assert.deepEqual(await ours.getItems(), await model.getItems());
    }),
    { numRuns: runs(40) },
  );
});

test("items are in the log unchanged, and none is ever erased", async () => {
  const session = openSession();
  const odd = { type: "unknown", providerData: { z: 1, a: [1e21, -0.5, "é"] } } as const;
  await session.addItems([user("one"), odd]);
  await session.popItem();
  await session.clearSession();
  const text = readFileSync(session.path, "utf8");
  assert.ok(text.includes(`"item":${JSON.stringify(odd)}`));
  assert.deepEqual(
    text
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type),
    ["item", "item", "pop", "clear"],
  );
  assert.deepEqual(await session.getItems(), []);
});

test("items of one call are all there or none of them, wherever a crash cuts the log", async () => {
  // Method: cut at the ends of lines and right next to them; other torn lines are tested with the
  // log.
  const root = tempDirectory();
  const session = openSession({ root });
  await session.addItems([user("kept")]);
  const kept = readFileSync(session.path).length;
  await session.addItems([user("a"), user("b"), user("c")]);
  await session.close();
  const whole = readFileSync(session.path);
  for (let end = kept; end <= whole.length; end++) {
    if (!whole.subarray(end - 2, end + 1).includes(0x0a) && end !== kept + 9) continue;
    writeFileSync(session.path, whole.subarray(0, end));
    const again = openSession({ root });
    await again.addItems([user("after")]);
    const items = await again.getItems();
    const isWhole = end >= whole.length - 1;
    assert.deepEqual(
      items.map((item) => (item as { content: string }).content),
      isWhole ? ["kept", "a", "b", "c", "after"] : ["kept", "after"],
    );
    await again.close();
  }
});

test("when two sessions pop at once, each item is returned by only one of them", async () => {
  const root = tempDirectory();
  const [one, two] = [openSession({ root }), openSession({ root })];
  await one.addItems(Array.from({ length: 20 }, (_, n) => user(String(n))));
  const popped = await Promise.all(
    Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? one : two).popItem()),
  );
  const contents = popped.flatMap((item) => (item ? [(item as { content: string }).content] : []));
  assert.equal(new Set(contents).size, contents.length);
  assert.equal(contents.length, 20);
  assert.deepEqual(await one.getItems(), []);
});

test("a rewrite that came too late does not count, and is tried again", async () => {
  const root = tempDirectory();
  const [one, two] = [openSession({ root }), openSession({ root })];
  await one.addItems([call("c")]);
  const replacement = call("c", "replaced");
  const mutations = [{ type: "replace_function_call" as const, callId: "c", replacement }];
  await Promise.all([
    one.applyHistoryMutations({ mutations }),
    ...Array.from({ length: 8 }, (_, n) => two.addItems([user(String(n))])),
    two.applyHistoryTransaction({
      operationId: "o",
      transaction: { type: "append_items", items: [user("once")] },
    }),
  ]);
  const items = await two.getItems();
  assert.equal(items.length, 10);
  assert.deepEqual(items[0], replacement);
});

test("a value that JSON cannot write is refused before anything is written", async () => {
  const session = openSession();
  const binary = { type: "unknown", providerData: { bytes: new Uint8Array(2) } } as const;
  await refusal(session.addItems([user("x"), binary]), "INVALID_ENTRY");
  assert.deepEqual(await session.getItems(), []);
});

test("an id that is not a plain path segment is refused", () => {
  for (const sessionId of ["", "..", "a/b", "../x", "a\0b", "a\\b"]) {
    expect(() => openSession({ sessionId })).toThrow(/is refused/);
  }
});

test("bad lines are skipped and reported", async () => {
  const session = openSession();
  await session.addItems([user("x")]);
  await session.close();
  appendFileSync(session.path, "no json\n");
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on("warning", listen);
  onTestFinished(() => {
    process.off("warning", listen);
  });
  assert.equal((await session.getItems()).length, 1);
  await new Promise(setImmediate);
  assert.match(warnings.map(String).join(), /1 bad line was skipped/);
});
