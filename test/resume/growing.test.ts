/**
 * A conversation that grows: each step costs what is new, and gives what gathering all lines gives.
 *
 * Method: work is counted, not timed. Entries are counted when their parts are read, messages when a
 * target builds them. The comparison grows sessions entry by entry, for every dialect.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import type { NewEntry } from "../../src/core/model/entry.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { writingOf } from "../../src/dialects/dialect.ts";
import { READ_DIALECT_NAMES } from "../../src/dialects/registry.ts";
import type { VerifiedEntry } from "../../src/evidence/verify/verified-entries.ts";
import { Assembly } from "../../src/resume/assembly.ts";
import { EntryFeed } from "../../src/resume/entry-feed.ts";
import type { GatheredEntry } from "../../src/resume/gather.ts";
import { Pipeline } from "../../src/resume/pipeline.ts";
import type { TargetName } from "../../src/resume/repair-report.ts";
import { GrowingConversation } from "../../src/resume/resumable.ts";
import { TARGET_NAMES } from "../../src/resume/resume.ts";
import type { MessageTarget } from "../../src/resume/targets/target.ts";
import { writerFacts } from "../support/facts.ts";
import { sampleLogs } from "../support/samples.ts";
import { runs } from "../support/seed.ts";
import { agentSession, throughDialect, wildSession } from "./any-session.ts";
import { TARGETS } from "./judged.ts";

const OWN_DIALECTS = ["verbatim", "claude", "entire", "rye", "homeagent", "sdk"] as const;
const ID = "s1";

type Native = VerifiedEntry["native"];

/** Lines as they are read from a file, with what the dialect remembers of earlier ones. */
function entriesOf(dialect: string, natives: readonly Native[]): VerifiedEntry[] {
  const { decode, remembers } = dialectNamed(dialect).reading;
  const memory = remembers?.();
  const entries: VerifiedEntry[] = [];
  for (const native of natives) {
    const { entry } = decode(native);
    if (!entry) continue;
    const line = entries.length + 1;
    const place = { start: line * 10, end: line * 10 + 10, line, verified: true };
    entries.push(Object.assign(memory?.read(entry) ?? entry, place));
  }
  return entries;
}

function said(role: "user" | "assistant", text: string): NewEntry {
  return { kind: "message", role, parts: [{ type: "text", text }] };
}

/** Entries of a turn that calls a tool, in a dialect's own lines. */
function turnsIn(dialect: string, count: number): Native[] {
  const entries = Array.from({ length: count }, (_, n): NewEntry[] => {
    const callId = `call_${n}`;
    const call = { type: "tool_call", callId, tool: "look", input: { n } } as const;
    const result = { type: "tool_result", callId, output: "seen", error: null } as const;
    return [
      said("user", `question ${n}`),
      { kind: "message", role: "assistant", parts: [call], messageId: `a${n}` },
      { kind: "message", role: "tool", parts: [{ ...result, durationMs: 1 }] },
      { ...said("assistant", `answer ${n}`), messageId: `b${n}` },
    ];
  });
  const lines = throughDialect(dialectNamed(dialect), entries.flat());
  return lines.map(({ native }) => native);
}

/** Counts entries whose parts are read, and messages that the target builds. */
class Work {
  readonly #visited = new Set<VerifiedEntry>();
  #messages = 0;

  counted(entry: VerifiedEntry): VerifiedEntry {
    const { parts } = entry;
    const get = () => {
      this.#visited.add(entry);
      return parts;
    };
    return Object.defineProperty(entry, "parts", { enumerable: true, get });
  }

  target<Message>(target: MessageTarget<Message>): MessageTarget<Message> {
    const build: typeof target.build = (messages, list) => {
      this.#messages += messages.length;
      target.build(messages, list);
    };
    return { ...target, build };
  }

  of(call: () => void): readonly [entries: number, messages: number] {
    this.#visited.clear();
    this.#messages = 0;
    call();
    return [this.#visited.size, this.#messages];
  }
}

test.each(OWN_DIALECTS.flatMap((dialect) => TARGET_NAMES.map((name) => [dialect, name] as const)))(
  "a step visits the new entries and builds the messages at the end, however many came before (%s, %s)",
  (dialect, name) => {
    const work = new Work();
    const all = entriesOf(dialect, turnsIn(dialect, 100)).map((entry) => work.counted(entry));
    const target: MessageTarget<unknown> = work.target<never>(TARGETS[name].target as never);
    const conversation = new GrowingConversation(dialectNamed(dialect), ID, target);
    const lines = all.slice(0, 20);
    const step = () => {
      const { pipeline, assembly } = conversation.gather(lines);
      return pipeline.finish(assembly, undefined);
    };
    assert.equal(work.of(step)[0], 20);
    while (lines.length < all.length) {
      const added = all.slice(lines.length, lines.length + 2);
      lines.push(...added);
      const [entries, messages] = work.of(step);
      assert.equal(entries, added.length);
      assert.ok(messages <= 4, `${messages} messages after ${lines.length} lines`);
    }
    const [entries, messages] = work.of(step);
    assert.ok(entries === 0 && messages <= 2, "a step without a new line");
  },
);

test("a summary makes one step gather all lines, and the next ones only what is new", () => {
  const work = new Work();
  const boundary: Native = { type: "system", subtype: "compact_boundary", uuid: "u" };
  const message = { role: "user", content: "In short." };
  const summary: Native = { type: "user", uuid: "v", isCompactSummary: true, message };
  const turns = turnsIn("claude", 40);
  const natives = [...turns.slice(0, 100), boundary, summary, ...turns.slice(100)];
  const all = entriesOf("claude", natives).map((entry) => work.counted(entry));
  const { target } = TARGETS.anthropic;
  const conversation = new GrowingConversation(dialectNamed("claude"), ID, target);
  const lines: VerifiedEntry[] = [];
  const visited: number[] = [];
  for (const entry of all) {
    lines.push(entry);
    visited.push(work.of(() => conversation.gather(lines))[0]);
  }
  const expected = all.map((_, at) => (at === 101 ? 102 : 1));
  assert.deepEqual(visited, expected);
});

test("a late result builds again the messages from its call on, and no line is read again", () => {
  const work = new Work();
  const call = { type: "tool_call", callId: "late", tool: "look", input: {} } as const;
  const result = { type: "tool_result", callId: "late", output: "seen", error: null } as const;
  const chat = (count: number) => {
    const entries = Array.from({ length: count }, (_, n) => [
      said("user", `${n}`),
      said("assistant", "yes"),
    ]);
    return entries.flat();
  };
  const entries: NewEntry[] = [
    ...chat(50),
    { kind: "message", role: "assistant", parts: [call] },
    ...chat(10),
    { kind: "message", role: "tool", parts: [{ ...result, durationMs: 1 }] },
  ];
  const dialect = dialectNamed("verbatim");
  const natives = throughDialect(dialect, entries).map(({ native }) => native);
  const all = entriesOf("verbatim", natives).map((entry) => work.counted(entry));
  const target = work.target(TARGETS["openai-chat"].target);
  const conversation = new GrowingConversation(dialect, ID, target);
  const lines = all.slice(0, -1);
  const step = () => {
    const { pipeline, assembly } = conversation.gather(lines);
    pipeline.finish(assembly, null);
  };
  work.of(step);
  lines.push(...all.slice(-1));
  const [visited, built] = work.of(step);
  assert.equal(visited, 1);
  assert.ok(built >= 21 && built <= 23, `${built} messages`);
});

type Step = readonly [lines: number, name: TargetName, prompt: string | null | undefined];

/** Grows a conversation and compares it, after each step, with one that is made of all lines. */
function assertGrows(
  dialectName: string,
  natives: readonly Native[],
  names: readonly TargetName[],
  stepLines = 1,
): void {
  const dialect = dialectNamed(dialectName);
  const all = entriesOf(dialectName, natives);
  for (const name of names) {
    const { target } = TARGETS[name] as { readonly target: MessageTarget<unknown> };
    const grown = new GrowingConversation(dialect, ID, target);
    const lines: VerifiedEntry[] = [];
    for (let end = 0; end < all.length + stepLines; end += stepLines) {
      for (const entry of all.slice(lines.length, end)) lines.push(entry);
      const fresh = new Pipeline();
      const freshFeed = new EntryFeed(fresh, dialect, ID);
      for (const entry of all.slice(0, end)) freshFeed.add(entry);
      freshFeed.finish();
      const { pipeline, assembly, feed } = grown.gather(lines);
      for (const prompt of [undefined, null, "And now?"]) {
        const step: Step = [end, name, prompt];
        const request = pipeline.finish(assembly, prompt);
        const expected = fresh.finish(new Assembly(target), prompt);
        assert.deepEqual(request, expected, JSON.stringify([dialectName, ...step]));
      }
      const totals = (of: Pipeline) => [of.entries, of.unverified, of.model];
      assert.deepEqual(totals(pipeline), totals(fresh));
      assert.equal(feed.agent, freshFeed.agent);
    }
  }
}

const anyTarget = fc.constantFrom(...TARGET_NAMES);

/** Any session, with providers' own summaries. */
const summarised = fc
  .tuple(wildSession, fc.array(fc.integer({ min: 0, max: 13 }), { maxLength: 3 }))
  .map(([entries, places]) => {
    const block = { type: "compaction", content: "In short." };
    const summary = { type: "other", native: block } as const;
    return entries.map((entry, at): GatheredEntry => {
      if (!places.includes(at)) return entry;
      const parts = [...entry.parts.slice(0, 1), summary, ...entry.parts.slice(1)];
      return { ...entry, kind: "message", role: "assistant", aside: null, parts };
    });
  });

test("after each entry of any log a grown conversation is that of all entries", () => {
  fc.assert(
    fc.property(summarised, anyTarget, (entries, name) => {
      const { target } = TARGETS[name] as { readonly target: MessageTarget<unknown> };
      const pipeline = new Pipeline();
      const assembly = new Assembly(target, true);
      for (const [at, entry] of entries.entries()) {
        pipeline.add(structuredClone(entry));
        const fresh = new Pipeline();
        for (const each of entries.slice(0, at + 1)) fresh.add(each);
        for (const prompt of [undefined, null]) {
          const expected = fresh.finish(new Assembly(target), prompt);
          assert.deepEqual(pipeline.finish(assembly, prompt), expected);
        }
      }
    }),
    { numRuns: runs(1500) },
  );
});

test.each(OWN_DIALECTS)(
  "after each line of an agent's session a grown conversation is that of all lines (%s)",
  (dialect) => {
    fc.assert(
      fc.property(agentSession, anyTarget, (session, name) => {
        const natives = throughDialect(dialectNamed(dialect), session).map(({ native }) => native);
        assertGrows(dialect, natives, [name]);
      }),
      { numRuns: runs(60) },
    );
  },
);

/** Lines that change what earlier ones mean, or look as if they did. */
const CLAUDE_ROW = fc.constantFrom<Native>(
  { type: "user", message: { role: "user", content: "Hi." } },
  { type: "user", isSidechain: true, message: { role: "user", content: "Find it." } },
  { type: "assistant", isSidechain: true, message: { role: "assistant", content: "There." } },
  { type: "assistant", message: { role: "assistant", content: "Yes." } },
  { type: "system", subtype: "compact_boundary", compactMetadata: { trigger: "manual" } },
  {
    type: "system",
    subtype: "compact_boundary",
    compactMetadata: { preservedSegment: { headUuid: "u1", tailUuid: "u3" } },
  },
  { type: "user", isCompactSummary: true, message: { role: "user", content: "In short." } },
  { type: "verbatim:deleted", timestamp: "2026-11-16T10:00:00.000Z" },
  { type: "file-history-snapshot" },
);
const SDK_LINE = fc.constantFrom<Native>(
  { type: "item", item: { type: "message", role: "user", content: "Hi." } },
  { type: "item", item: { type: "message", role: "assistant", content: "Yes." } },
  { type: "pop", count: 1 },
  { type: "pop", count: 2 },
  { type: "clear" },
);

test.each([
  ["claude", CLAUDE_ROW],
  ["entire", CLAUDE_ROW],
  ["sdk", SDK_LINE],
] as const)(
  "summaries, withdrawals and subagents' rows in any order give what all lines give (%s)",
  (dialect, line) => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), anyTarget, (rows, name) => {
        const facts = writerFacts({ id: ID, agent: "hello" });
        const natives = rows.map((row, at) => {
          const native = { ...row, uuid: `u${at}`, sessionId: ID };
          return dialect === "sdk" ? writingOf(dialectNamed(dialect)).complete(row, facts) : native;
        });
        assertGrows(dialect, natives, [name]);
      }),
      { numRuns: runs(300) },
    );
  },
);

const withSamples = READ_DIALECT_NAMES.filter((name) => {
  return sampleLogs(name).some(({ path }) => path.endsWith(".jsonl"));
});

test.each(withSamples)(
  "a real session that grows gives what all its lines give (%s)",
  (dialect) => {
    for (const { path } of sampleLogs(dialect).filter(({ path }) => path.endsWith(".jsonl"))) {
      const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
      const natives = lines.flatMap((line): Native[] => {
        const value: unknown = JSON.parse(line);
        return typeof value === "object" && value !== null ? [value as Native] : [];
      });
      assertGrows(dialect, natives, TARGET_NAMES, Math.max(1, Math.ceil(natives.length / 12)));
    }
  },
);
