/** How much is resumed, at each limit and one past it; and the cost of hostile sessions. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { judgeAll, piped } from "../../test/resume/judged.ts";
import { call, entriesOf, result, type Said, use } from "../../test/resume/said.ts";
import { thrownRefusal } from "../../test/support/refusal.ts";
import { isTried } from "../../test/support/seed.ts";
import { RESUME_LIMITS } from "../core/base/limits.ts";
import type { Part } from "../core/model/entry.ts";
import type { GatheredEntry } from "./gather.ts";
import { Pipeline } from "./pipeline.ts";
import type { TargetName } from "./repair-report.ts";
import { charsOf, type RoomLimits } from "./room.ts";

/** One that joins messages, and one that splits them. */
const NAMES: readonly TargetName[] = ["anthropic", "openai-chat"];
const { messageCallsMax } = RESUME_LIMITS;

function callsAndResults(count: number): GatheredEntry[] {
  const ids = Array.from({ length: count }, (_, at) => `c${at}`);
  return entriesOf(
    ["user", ["go"]],
    ["assistant", ["I look.", ...ids.map((id) => call(id))]],
    ["tool", ids.map((id) => result(id, `out ${id}`))],
  );
}

test("as many calls as OpenAI accepts in one message are one, and one more begins another", () => {
  const at = piped("openai-chat", callsAndResults(messageCallsMax), null);
  assert.deepEqual(at.actions, []);
  const callsOf = ({ messages }: typeof at) => {
    return messages.flatMap((each) => (each.role === "assistant" ? [each.tool_calls?.length] : []));
  };
  assert.deepEqual(callsOf(at), [messageCallsMax]);
  const past = piped("openai-chat", callsAndResults(messageCallsMax + 1), null);
  assert.deepEqual(callsOf(past), [messageCallsMax, 1]);
  assert.deepEqual(
    past.actions.map(({ action, why, line, callId }) => [action, why, line, callId]),
    [["moved", "calls_split", 2, `c${messageCallsMax}`]],
  );
  assert.deepEqual(past.messages.slice(-2), [
    {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: `c${messageCallsMax}`,
          type: "function",
          function: { name: "look", arguments: '{"a":1}' },
        },
      ],
    },
    { role: "tool", tool_call_id: `c${messageCallsMax}`, content: `out c${messageCallsMax}` },
  ]);
});

test("without a limit of calls per message it stays one message", () => {
  const { messages, actions } = piped("anthropic", callsAndResults(messageCallsMax + 1), null);
  assert.deepEqual(actions, []);
  assert.equal(messages.length, 3);
  assert.deepEqual(messages[1]?.content.at(-1), use(`c${messageCallsMax}`));
});

function takenWith(limits: Partial<RoomLimits>, entries: readonly GatheredEntry[]): void {
  const pipeline = new Pipeline({ ...RESUME_LIMITS, ...limits });
  for (const entry of entries) pipeline.add(entry);
}

const PNG: Part = { type: "image", mediaType: "image/png", data: "AAAA" };
const THOUGHT: Part = { type: "reasoning", text: "hm", signature: "sig" };

/** What counts against the limit, with its characters. */
const SPOKEN: readonly [string, Said, number][] = [
  ["a user's text", ["user", ["four"]], 4],
  ["a system prompt", ["system", ["four"]], 4],
  ["an image", ["user", [PNG]], 4],
  ["thinking with its signature", ["assistant", [THOUGHT]], 5],
  ["a call's input", ["assistant", [call("a", { a: 1 })]], 7],
];

test.each(SPOKEN)("%s counts up to the limit of characters, and not past it", (_, said, chars) => {
  const entries = entriesOf(said);
  takenWith({ charsMax: chars }, entries);
  const over = () => takenWith({ charsMax: chars - 1 }, entries);
  const { details, message } = thrownRefusal(over, "RESUME_TOO_LARGE");
  assert.deepEqual(details, { line: 1, what: "characters", max: chars - 1 });
  assert.match(message, /--up-to/);
});

test("results count too, with or without their calls", () => {
  for (const id of ["a", "stray"]) {
    const entries = entriesOf(["assistant", [call("a")]], ["tool", [result(id, "x".repeat(1000))]]);
    takenWith({ charsMax: 1200 }, entries);
    const over = () => takenWith({ charsMax: 1000 }, entries);
    assert.equal(thrownRefusal(over, "RESUME_TOO_LARGE").details.line, 2);
  }
});

test("parts count whether they are used or not, silent lines do not", () => {
  const quiet: Said = ["user", [], { kind: "turn_start", role: null }];
  const entries = entriesOf(quiet, ["user", ["a", " ", "b"]], quiet, ["user", []], quiet);
  takenWith({ partsMax: 4 }, entries);
  const over = () => takenWith({ partsMax: 3 }, entries);
  const { details } = thrownRefusal(over, "RESUME_TOO_LARGE");
  assert.deepEqual(details, { line: 4, what: "parts", max: 3 });
  const pipeline = new Pipeline({ ...RESUME_LIMITS, partsMax: 1 });
  pipeline.addBadLine({ line: 1, start: 0 });
  const bad = () => pipeline.addBadLine({ line: 2, start: 9 });
  assert.equal(thrownRefusal(bad, "RESUME_TOO_LARGE").details.line, 2);
});

test("an image by URL counts as long as its URL", () => {
  const url = "https://example.org/a.png";
  assert.equal(charsOf({ type: "image", image: { kind: "url", url }, from: null }), url.length);
});

/** More than a function call accepts as arguments, too. */
const MANY = 130_000;

/**
 * Shapes for which walking over everything before, for each new one, would take minutes. A run builds
 * each for one target, the next run for the other.
 */
const HOSTILE: Readonly<Record<string, () => readonly Said[]>> = {
  "one line of texts": () => [["user", Array.from({ length: MANY }, () => "a")]],
  "lines of one speaker": () => Array.from({ length: MANY }, (): Said => ["user", ["a"]]),
  "the model's texts, line after line": () => {
    return Array.from({ length: MANY }, (_, at): Said => {
      return ["assistant", ["a"], { messageId: `m${at}` }];
    });
  },
  "thinking, line after line": () => {
    return Array.from({ length: MANY }, (_, at): Said => {
      return ["assistant", [THOUGHT, "a"], { messageId: `m${at}` }];
    });
  },
  "calls in one message": () => {
    const ids = Array.from({ length: MANY }, (_, at) => `c${at}`);
    return [
      ["assistant", ids.map((id) => call(id))],
      ["tool", ids.map((id) => result(id, "out"))],
    ];
  },
};

test.each(Object.keys(HOSTILE))("the cost of %s grows at most linearly", (name) => {
  const entries = (HOSTILE[name]?.() ?? []).map(([role, parts, more], at): GatheredEntry => {
    const spoken = parts.map((part): Part => {
      return typeof part === "string" ? { type: "text", text: part } : part;
    });
    const place = { start: at, line: at + 1, verified: true };
    return { kind: "message", role, parts: spoken, model: "claude-opus-4-5", ...place, ...more };
  });
  for (const [nth, target] of NAMES.entries()) {
    const isDue = isTried(nth + Object.keys(HOSTILE).indexOf(name), NAMES.length);
    if (isDue) assert.ok(piped(target, entries).messages.length > 0, target);
  }
});

test("a message of many calls is accepted by every provider, whatever is between the calls", () => {
  const calls = Array.from({ length: 3 * messageCallsMax }, (_, at) => call(`c${at}`));
  const parts = calls.flatMap((each, at) => (at % 7 === 0 ? [THOUGHT, "then", each] : [each]));
  judgeAll(entriesOf(["user", ["go"]], ["assistant", parts]), "calls and thoughts");
});
