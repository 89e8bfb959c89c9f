/**
 * Demo sessions: an example for users without sessions: an agent fixes a failing test, with
 * thinking, tools that succeed and fail, a diff, and a child session for the review.
 *
 * Invented, and labelled as an example.
 */

import type { NewEntry, Part, Usage } from "../../core/model/entry.ts";

export const DEMO_AGENT = "demo/mend_test";
export const DEMO_CHILD_AGENT = "demo/review";
export const DEMO_MODEL = "demo-model-1";

const BEFORE = `export function daysBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / 86_400_000;
}
`;

const FAILURE = `FAIL  src/days.test.ts > a day that has 23 hours is still a day
AssertionError: expected 0.9583333333333334 to be 1

  11 | test("a day that has 23 hours is still a day", () => {
  12 |   const from = new Date("2026-03-29T00:00:00+01:00");
  13 |   const to = new Date("2026-03-30T00:00:00+02:00");
> 14 |   expect(daysBetween(from, to)).toBe(1);

 Tests  1 failed | 7 passed (8)
`;

const PASSED = ` ✓ src/days.test.ts (8 tests) 6ms

 Tests  8 passed (8)
`;

const ANSWER = `Fixed. The test failed because **not every day has 24 hours**: when the clocks go forward, one has 23.

| | before | after |
|---|---|---|
| unit | milliseconds | calendar days |
| 29 March 2026 | \`0.958…\` | \`1\` |

The days are now counted from the dates themselves:

\`\`\`ts
const day = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
return Math.round((day(to) - day(from)) / DAY_MS);
\`\`\`

All 8 tests pass. I asked for a review; it found nothing more to change.`;

/** The turns before and after the child session starts. */
export const DEMO_TURNS: readonly (readonly NewEntry[])[] = [
  [
    said("user", text("This is an example. Why does the test of daysBetween fail?")),
    { kind: "turn_start" },
    said(
      "assistant",
      {
        type: "reasoning",
        text: "Something about dates. Daylight saving is the usual suspect: a day with 23 or 25 hours. I should see the code and run the test before I guess.",
      },
      text("I'll look at the function and run its test."),
      call("c1", "read_file", { path: "src/days.ts" }),
    ),
    said("tool", result("c1", BEFORE, 4)),
    said("assistant", call("c2", "bash", { command: "npx vitest run src/days.test.ts" })),
    said("tool", result("c2", FAILURE, 2_140, "exit code 1")),
    { kind: "turn_end", usage: used(1_840, 212, 0.0087) },
  ],
  [
    { kind: "turn_start" },
    said(
      "assistant",
      {
        type: "reasoning",
        text: "As thought: on 29 March the clocks go forward, so that day has 23 hours, and 23/24 is 0.958. Dividing milliseconds cannot be right. Counting calendar days is.",
      },
      text("The day in that test has 23 hours: the clocks go forward. I'll count calendar days."),
      call("c3", "edit_file", {
        path: "src/days.ts",
        old_string: "  return (to.getTime() - from.getTime()) / 86_400_000;\n",
        new_string:
          "  // Days are counted, not hours: some days have 23 of them, or 25.\n  return Math.round((dayOf(to) - dayOf(from)) / DAY_MS);\n",
      }),
    ),
    said("tool", result("c3", "edited src/days.ts", 7)),
    said("assistant", call("c4", "bash", { command: "npx vitest run src/days.test.ts" })),
    said("tool", result("c4", PASSED, 1_874)),
    { kind: "turn_end", usage: used(2_410, 268, 0.0112) },
  ],
  [
    said("user", text("Good. Have somebody look over it.")),
    { kind: "turn_start" },
    said("assistant", text("I'll begin a session of its own for the review.")),
  ],
  [
    said("assistant", text(ANSWER)),
    { kind: "turn_end", usage: used(2_960, 341, 0.0141) },
    { kind: "end", outcome: "completed", usage: used(7_210, 821, 0.034) },
  ],
];

/** The turn after which the child session begins. */
export const DEMO_CHILD_AFTER = 2;

export const DEMO_CHILD: readonly NewEntry[] = [
  said("user", text("Review the change of src/days.ts. Say only what must be changed.")),
  { kind: "turn_start" },
  said("assistant", call("r1", "bash", { command: "git diff src/days.ts" })),
  said(
    "tool",
    result(
      "r1",
      `diff --git a/src/days.ts b/src/days.ts
--- a/src/days.ts
+++ b/src/days.ts
@@ -1,3 +1,8 @@
+const DAY_MS = 86_400_000;
+const dayOf = (date: Date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
+
 export function daysBetween(from: Date, to: Date): number {
-  return (to.getTime() - from.getTime()) / 86_400_000;
+  // Days are counted, not hours: some days have 23 of them, or 25.
+  return Math.round((dayOf(to) - dayOf(from)) / DAY_MS);
 }
`,
      31,
    ),
  ),
  said(
    "assistant",
    text("Nothing must be changed. The rounding is safe: both are midnights in UTC."),
  ),
  { kind: "turn_end", usage: used(910, 64, 0.0036) },
  { kind: "end", outcome: "completed", usage: used(910, 64, 0.0036) },
];

function said(role: "user" | "assistant" | "tool", ...parts: readonly Part[]): NewEntry {
  return { kind: "message", role, parts };
}

function text(words: string): Part {
  return { type: "text", text: words };
}

function call(callId: string, tool: string, input: unknown): Part {
  return { type: "tool_call", callId, tool, input };
}

function result(callId: string, output: string, durationMs: number, error?: string): Part {
  return { type: "tool_result", callId, output, error: error ?? null, durationMs };
}

function used(inputTokens: number, outputTokens: number, spend: number): Usage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, spend };
}
