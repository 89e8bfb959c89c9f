/**
 * Schema: HomeAgent's turn record in Zod, as its document has it. Page: docs/formats/homeagent.md.
 *
 * The only file that imports Zod, which costs a tenth of a second to load: whoever wants these
 * schemas imports this file, and nothing else here does. Reading and writing judge with
 * `entry-check.ts`, which gives the same verdicts (a property test compares the two).
 *
 * Z1  Zod only judges. What it returns is thrown away: it builds new objects, and we keep the
 *     bytes that were given.
 * Z2  Loose at every level: a key that the document does not name is never a reason to refuse.
 */

import { z } from "zod";
import { type EntryFault, ROLE_EXPECTED } from "./entry-check.ts";

/** Who speaks in a turn record. */
export const TurnRole = z.enum(["user", "assistant", "tool", "system"]);

/**
 * One line of a HomeAgent session.
 *
 * @example TranscriptEntry.parse({ turnId: "t1", role: "user", content: "hello", ts: Date.now() });
 */
export const TranscriptEntry = z.looseObject({
  turnId: z.string(),
  role: TurnRole,
  content: z.string().optional(),
  toolCalls: z
    .array(
      z.looseObject({
        id: z.string(),
        name: z.string(),
        args: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
  toolResults: z
    .array(
      z.looseObject({
        callId: z.string(),
        // The document's z.unknown() is optional under the Zod of its day, so absent is well.
        result: z.unknown().optional(),
        error: z.string().optional(),
      }),
    )
    .optional(),
  metadata: z
    .looseObject({
      model: z.string().optional(),
      tokens: z.looseObject({ prompt: z.number(), completion: z.number() }).optional(),
      runId: z.string().optional(),
      provider: z.string().optional(),
    })
    .optional(),
  ts: z.number(),
});

export type TurnRole = z.infer<typeof TurnRole>;
export type TranscriptEntry = z.infer<typeof TranscriptEntry>;

/** The first thing Zod has against a value, in the words of `entry-check.ts`; null for nothing. */
export function judgeEntry(value: unknown): EntryFault | null {
  const issue = TranscriptEntry.safeParse(value).error?.issues[0];
  if (issue === undefined) return null;
  return {
    field: issue.path.length === 0 ? "entry" : issue.path.join("."),
    reason: issue.code === "invalid_type" ? `expected ${issue.expected}` : ROLE_EXPECTED,
  };
}
