/** Any session: generated entries, random ones and such as an agent writes. */

import fc from "fast-check";
import { encodeLine } from "../../src/core/log/json.ts";
import type { Entry, NewEntry, Part } from "../../src/core/model/entry.ts";
import { type Dialect, writingOf } from "../../src/dialects/dialect.ts";
import { blockPart } from "../../src/dialects/shared/entry-parts.ts";
import type { GatheredEntry } from "../../src/resume/gather.ts";
import { writerFacts } from "../support/facts.ts";

const MODELS = ["claude-opus-4-5", "gpt-5.5", null];
const IDS = ["a", "b", "toolu_01", "call.1|fc 2", "x".repeat(60), "", null];
const PNG = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };

/** Texts found in practice: empty, blank, with NULs or lone surrogates. */
const text = fc.oneof(
  fc.constantFrom("", " \n", "\u001c", "Hello", "nul \0 byte", "half \ud83d", "\\u0000", "ok 😀"),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const value = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    [{ type: "text", text: "out" }, PNG],
    [{ type: "input_image", image_url: "https://example.org/a.png" }],
    [{ type: "text", text: " " }],
    { "\0key": ["\udc00"], ["__proto__"]: 1 },
  ),
);
const callId = fc.constantFrom(...IDS);
const thought = fc.record(
  {
    type: fc.constant("reasoning" as const),
    text,
    signature: fc.constantFrom("c2VhbA==", ""),
    withheld: fc.constantFrom("c2VhbGVk", ""),
  },
  { requiredKeys: ["type", "text"] },
);
const call = fc.record({
  type: fc.constant("tool_call" as const),
  callId,
  tool: fc.constantFrom("read_file", "oven.status", "", "ü".repeat(70)),
  input: value,
});
const result = fc.record({
  type: fc.constant("tool_result" as const),
  callId,
  output: value,
  error: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, text),
  durationMs: fc.constant(null),
});
const other = fc
  .constantFrom<unknown>(
    PNG,
    { type: "image_url", image_url: { url: "data:image/webp;base64,AAA=" } },
    { type: "image", source: { type: "base64", media_type: "image/bmp", data: "AAAA" } },
    { type: "tool_use", id: "a", name: "read_file", input_text: '{"pa' },
    { type: "function", id: "b", function: { name: "x" }, input_text: "" },
    { type: "refusal", refusal: "I will not." },
    { type: "server_tool_use", id: "srv", name: "web_search", input: {} },
    { type: "resume_report", session: "earlier" },
    null,
    "text",
  )
  .map(blockPart);
const part: fc.Arbitrary<Part> = fc.oneof(
  text.map((text): Part => ({ type: "text", text })),
  thought as fc.Arbitrary<Part>,
  call,
  result,
  other,
  fc.constant<Part>({ type: "child", session: "s", agent: null }),
);

/** Anything: any part of any provider, calls and results with matching and other ids. */
export const wildSession: fc.Arbitrary<GatheredEntry[]> = fc
  .array(
    fc.record(
      {
        kind: fc.constantFrom("message", "message", "message", "turn_start", "other", "end"),
        role: fc.constantFrom("user", "assistant", "assistant", "tool", "system", null),
        parts: fc.array(part, { maxLength: 4 }),
        model: fc.constantFrom(...MODELS),
        messageId: fc.constantFrom("m1", "m2"),
        aside: fc.constantFrom(null, null, null, null, "other_agent", "program"),
        verified: fc.boolean(),
      },
      { requiredKeys: ["kind", "role", "parts", "model", "aside", "verified"] },
    ),
    { maxLength: 14 },
  )
  .map((entries) =>
    entries.map((entry, at) => ({ ...entry, start: at * 10, line: at + 1 }) as GatheredEntry),
  );

/** A turn of an agent: parallel calls, results in any order, some missing, interrupts. */
const turn = fc
  .record({
    prompt: text,
    thinks: fc.boolean(),
    says: text,
    model: fc.constantFrom("claude-opus-4-5", "gpt-5.5"),
    calls: fc.uniqueArray(fc.constantFrom("c1", "c2", "c3"), { maxLength: 3 }),
    inputs: fc.array(fc.dictionary(fc.string({ maxLength: 3 }), text), {
      minLength: 3,
      maxLength: 3,
    }),
    answered: fc.shuffledSubarray(["c1", "c2", "c3"]),
    output: value,
    error: fc.constantFrom(null, null, "it failed"),
    isPartial: fc.boolean(),
  })
  .map((said): NewEntry[] => {
    const { prompt, thinks, says, model, calls, inputs, answered, output, error, isPartial } = said;
    const parts: Part[] = [
      ...(thinks ? [{ type: "reasoning", text: "Hm.", signature: "c2VhbA==" } as const] : []),
      { type: "text", text: says },
      ...calls.map((callId, at): Part => {
        return { type: "tool_call", callId, tool: "read_file", input: inputs[at] ?? {} };
      }),
    ];
    const results = answered
      .filter((id) => calls.some((each) => each === id))
      .map((callId): NewEntry => {
        const part: Part = { type: "tool_result", callId, output, error, durationMs: 1 };
        return { kind: "message", role: "tool", parts: [part] };
      });
    const broken = isPartial && results.length === 0 ? ({ isPartial: true } as const) : {};
    return [
      { kind: "message", role: "user", parts: [{ type: "text", text: prompt }] },
      { kind: "turn_start" },
      { kind: "message", role: "assistant", parts, model, ...broken },
      ...results,
      { kind: "turn_end" },
    ];
  });

/** Sessions as agents write them, several turns and models, perhaps with a system prompt. */
export const agentSession: fc.Arbitrary<NewEntry[]> = fc
  .tuple(fc.boolean(), fc.array(turn, { maxLength: 4 }))
  .map(([hasSystem, turns]) => [
    ...(hasSystem
      ? [{ kind: "message", role: "system", parts: [{ type: "text", text: "Be brief." }] } as const]
      : []),
    ...turns.flat(),
  ]);

/** The entries as read back from a dialect's own lines. */
export function throughDialect(
  dialect: Dialect,
  entries: readonly NewEntry[],
): (Entry & GatheredEntry)[] {
  const facts = writerFacts({ id: "s", agent: "hello" });
  const writing = writingOf(dialect);
  const natives = entries.flatMap((entry) => writing.express(entry, facts));
  return natives.map((native, at) =>
    decoded(dialect, encodeLine(writing.complete(native, facts)), at),
  );
}

/** A line as the entry that resume gets. */
export function decoded(
  dialect: Dialect,
  line: Uint8Array | string,
  at: number,
): Entry & GatheredEntry {
  const { entry, fault } = dialect.reading.decode(JSON.parse(Buffer.from(line).toString("utf8")));
  if (!entry) throw new Error(fault);
  const aside = dialect.reading.asideOf?.(entry.native, null) ?? null;
  return Object.assign(entry, { start: at * 10, line: at + 1, verified: true, aside });
}
