/**
 * Dialect suite: what every dialect must do, whatever its lines look like. A new dialect runs it from
 * its own test file in this folder.
 */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import fc from "fast-check";
import { describe, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { NewEntry } from "../../src/core/model/entry.ts";
import { type Dialect, writingOf } from "../../src/dialects/dialect.ts";
import type { WriterFacts } from "../../src/dialects/facets/writing.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { refusal, thrownRefusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export interface DialectUnderTest {
  readonly dialect: Dialect;
  /** Valid ids. */
  readonly ids: readonly string[];
  readonly agent: string;
  /** A valid native entry, and an invalid one. */
  readonly native: Readonly<Record<string, unknown>>;
  readonly invalid: Readonly<Record<string, unknown>>;
}

const HOSTILE_IDS = [
  "",
  "..",
  "../x",
  "a/../b",
  "/etc/passwd",
  "a\\b",
  "a\0b",
  "a\nb",
  "a//b",
  "./a",
];

const MESSAGES: readonly NewEntry[] = [
  { kind: "message", role: "user", parts: [{ type: "text", text: "Hi é 😀 \u2028 \u0007" }] },
  {
    kind: "message",
    role: "assistant",
    parts: [{ type: "tool_call", callId: "c", tool: "read", input: { path: "/x" } }],
  },
  {
    kind: "message",
    role: "tool",
    parts: [{ type: "tool_result", callId: "c", output: "text", error: null, durationMs: 5 }],
  },
  { kind: "message", role: "assistant", parts: [{ type: "reasoning", text: "hm" }] },
];

export function runDialectSuite(under: DialectUnderTest): void {
  const { dialect, ids, agent, native, invalid } = under;
  const id = ids[0] ?? "";
  const facts: WriterFacts = {
    id,
    agent,
    nowMs: 1_760_000_000_000,
    newId: () => "fresh",
    cwd: "/p",
    version: "0",
    model: null,
  };
  const openStore = (root = tempDirectory()) => {
    const store = new Store(nodeHost, { dialect: dialect.name, root, agent, durability: "os" });
    onTestFinished(() => store.close());
    return store;
  };

  describe(`the dialect ${dialect.name}`, () => {
    test("maps a log's path back to its session id", () => {
      for (const good of ids) assert.equal(dialect.naming.idAt(dialect.naming.logPath(good)), good);
    });

    test("never puts a log outside the root", () => {
      for (const hostile of HOSTILE_IDS)
        thrownRefusal(() => dialect.naming.logPath(hostile), "BAD_ID");
      fc.assert(
        fc.property(fc.string({ unit: "binary" }), (any) => {
          try {
            const path = dialect.naming.logPath(any);
            const below = join("/project", ...path);
            assert.equal(normalize(below), below);
            assert.ok(below.startsWith("/project/"));
            assert.equal(dialect.naming.idAt(path), any);
          } catch (error) {
            assert.equal((error as { code?: string }).code, "BAD_ID");
          }
        }),
      );
    });

    test("understands or refuses any JSON value without throwing", () => {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          const { entry, fault } = dialect.reading.decode(value);
          assert.equal(entry === null, typeof fault === "string");
        }),
      );
    });

    test("keeps the parsed line next to what it understood", () => {
      const line: unknown = JSON.parse(
        JSON.stringify(writingOf(dialect).complete({ ...native, odd: [1] }, facts)),
      );
      assert.deepEqual(dialect.reading.decode(line).entry?.native, line);
    });

    test("reads back the text of a message", () => {
      for (const message of MESSAGES) {
        const [said, ...more] = writingOf(dialect).express(message, facts);
        assert.ok(said && more.length === 0);
        const line: unknown = JSON.parse(JSON.stringify(writingOf(dialect).complete(said, facts)));
        const { entry } = dialect.reading.decode(line);
        assert.equal(entry?.role, message.role);
        assert.deepEqual(entry?.parts, message.parts);
      }
    });

    test("refuses an invalid entry before it creates anything", async () => {
      const root = tempDirectory();
      const session = openStore(join(root, "store")).session(id);
      await refusal(session.appendNative(invalid), "INVALID_ENTRY");
      assert.throws(() => readFileSync(session.path), { code: "ENOENT" });
    });

    test("keeps entries in a store: created, listed, continued, followed", async () => {
      const root = tempDirectory();
      const first = openStore(root);
      const session = await first.create({ id });
      await refusal(first.create({ id }), "SESSION_EXISTS");
      for (const message of MESSAGES) await session.append(message);
      await first.close();

      const stop = new AbortController();
      const again = await openStore(root).open(id);
      const roles: (string | null)[] = [];
      const following = (async () => {
        for await (const { role } of again.follow({ signal: stop.signal })) {
          if (roles.push(role) === MESSAGES.length + 1) stop.abort();
        }
      })();
      await again.appendNative(native);
      await assert.rejects(following, { name: "AbortError" });
      assert.deepEqual(
        roles.slice(0, -1),
        MESSAGES.map(({ role }) => role),
      );
      assert.equal((await again.last(1)).length, 1);

      const catalogPath = join(root, "catalog.db");
      const listing = new Store(nodeHost, { dialect: dialect.name, root, catalogPath });
      assert.deepEqual(
        (await listing.list()).map((row) => row.id),
        [id],
      );
      await refusal(listing.open(`${id}x`), "SESSION_NOT_FOUND");
    });

    test("reports which lines of a session it does not understand, and continues after them", async () => {
      const session = await openStore().create({ id });
      await session.appendNative(native);
      appendFileSync(session.path, "no json\n[1]\n");
      await session.close();
      const again = await openStore(session.root).open(id);
      const bad: (number | null)[] = [];
      let good = 0;
      for await (const _ of again.entries({ onBadLine: ({ line }) => bad.push(line) })) good++;
      assert.deepEqual([good, bad], [1, [2, 3]]);
      await assert.rejects(
        async () => {
          for await (const _ of again.entries()) good++;
        },
        { code: "BAD_LINE" },
      );
    });

    test("accepts a last line that lacks only its LF, as other programs leave it", async () => {
      const session = await openStore().create({ id });
      await session.appendNative(native);
      await session.close();
      appendFileSync(session.path, JSON.stringify(writingOf(dialect).complete(native, facts)));
      const again = await openStore(session.root).open(id);
      assert.equal((await again.last(5)).length, 2);
      await again.appendNative(native);
      assert.equal((await again.last(5)).length, 3);
    });
  });
}
