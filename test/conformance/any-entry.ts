/** Any entry: valid ones of every kind, and broken ones, for properties of every dialect. */

import fc from "fast-check";

/** As in JavaScript, without a compiler that reports unknown fields. */
// biome-ignore lint/suspicious/noExplicitAny: what a compiler would refuse is what is tried here.
export type Untyped = any;

const anyText = fc.oneof(
  fc.string({ unit: "binary", minLength: 1 }),
  fc.constantFrom("\n\n", '"', "\ud800", "null", "5", "__proto__", "\u2028", "{}"),
);
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const count = fc.oneof(fc.nat(), fc.constant(0));
const json = fc.oneof(fc.jsonValue(), anyText, fc.constant({ input: 1 }), fc.constant(null));
const usage = fc.record(
  {
    inputTokens: orNull(count),
    outputTokens: orNull(count),
    cacheWriteTokens: count,
    cacheReadTokens: count,
    totalTokens: orNull(count),
    spend: orNull(fc.double({ min: 0, max: 100, noNaN: true })),
  },
  { requiredKeys: [] },
);
const block = fc.record({ type: fc.constantFrom("note", "citation"), data: json });
const part = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.oneof(anyText, fc.constant("")) }),
  fc.record({
    type: fc.constant("reasoning"),
    text: fc.oneof(anyText, fc.constant("")),
    signature: maybe(anyText),
    withheld: maybe(anyText),
    provider: maybe(anyText),
  }),
  fc.record({
    type: fc.constant("tool_call"),
    callId: orNull(anyText),
    tool: anyText,
    input: json,
  }),
  fc.record({
    type: fc.constant("tool_result"),
    callId: orNull(anyText),
    output: json,
    error: orNull(anyText),
    durationMs: orNull(count),
  }),
  fc.record({ type: fc.constant("child"), session: anyText, agent: orNull(anyText) }),
  fc.record({
    type: fc.constant("image"),
    mediaType: fc.constant("image/png"),
    name: maybe(anyText),
    data: fc.base64String({ minLength: 4 }),
  }),
  fc.record({
    type: fc.constant("file"),
    mediaType: fc.constant("text/html"),
    url: fc.webUrl(),
  }),
  fc.record({ type: fc.constant("other"), native: fc.oneof(block, json) }),
);
const at = fc
  .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Entries of every kind, with any combination of fields. */
export const anyEntry = fc.record(
  {
    kind: fc.oneof(
      { weight: 4, arbitrary: fc.constant("message") },
      fc.constantFrom("start", "turn_start", "turn_end", "end", "other"),
    ),
    at: orNull(fc.oneof(at, fc.constant("2026-11-15T10:00:00.123456+02:00"))),
    role: fc.constantFrom("system", "user", "assistant", "tool"),
    parts: fc.array(part, { maxLength: 4 }),
    model: orNull(fc.oneof(anyText, fc.constant(""))),
    messageId: anyText,
    stopReason: anyText,
    isPartial: fc.boolean(),
    usage: orNull(usage),
    outcome: orNull(fc.constantFrom("completed", "error")),
    error: orNull(fc.record({ code: anyText, detail: anyText })),
  },
  { requiredKeys: ["kind"] },
) as fc.Arbitrary<Untyped>;

/** Entries as agents write them. */
export const goodEntry = anyEntry.map(({ outcome: _, error: __, ...entry }) => ({
  ...entry,
  kind: "message",
  role: entry.role ?? "assistant",
}));

/** Invalid entries: wrong fields, wrong values, in any place. */
export const broken = fc
  .tuple(
    anyEntry,
    fc.constantFrom("content", "parts", "role", "text", "usage", "native", "at", "kind", "error"),
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
  )
  .map(([entry, field, value]) => ({ ...entry, [field]: value }));
