/**
 * Schema: HomeAgent's turn record in Zod, as in its document. Page: docs/formats/homeagent.md.
 *
 * The only file that imports Zod, which takes a tenth of a second to load; the build copies Zod into
 * it. No other file here imports it: reading and writing use `entry-check.ts`, which gives the same
 * verdicts (a property test compares the two).
 *
 * Zod only validates. Its result is discarded: it builds new objects, and we keep the caller's
 * bytes. The schema is loose at every level: an unknown key is never a reason to refuse.
 */

import { z } from "zod";
import { type EntryFault, ROLE_EXPECTED } from "./entry-check.ts";

/**
 * What a program needs of a schema. Its types do not need Zod, which users may not have, or in an
 * older version. It is also a Standard Schema.
 */
export interface TranscriptSchema<Value> {
  /** The value itself; throws what is wrong with it. */
  parse(value: unknown): Value;
  safeParse(
    value: unknown,
  ):
    | { readonly success: true; readonly data: Value; readonly error?: undefined }
    | { readonly success: false; readonly data?: undefined; readonly error: SchemaError };
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Value; readonly output: Value } | undefined;
    readonly validate: (value: unknown) => SchemaResult<Value> | Promise<SchemaResult<Value>>;
  };
}

export interface SchemaError extends Error {
  readonly issues: readonly SchemaIssue[];
}

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

export type SchemaResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

const ROLE = z.enum(["user", "assistant", "tool", "system"]);

/** Role of a turn record. */
export const TurnRole: TranscriptSchema<TurnRole> = ROLE;

const ENTRY = z.looseObject({
  turnId: z.string(),
  role: ROLE,
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
        // z.unknown() was optional in the document's version of Zod, so the field may be absent.
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

/**
 * One line of a HomeAgent session.
 *
 * @example TranscriptEntry.parse({ turnId: "t1", role: "user", content: "hello", ts: Date.now() });
 */
export const TranscriptEntry: TranscriptSchema<TranscriptEntry> = ENTRY;

// Not inferred from the schemas, so that TypeScript does not need Zod.
export type TurnRole = "user" | "assistant" | "tool" | "system";

export type TranscriptEntry = {
  [field: string]: unknown;
  turnId: string;
  role: TurnRole;
  content?: string | undefined;
  toolCalls?:
    | { [field: string]: unknown; id: string; name: string; args: Record<string, unknown> }[]
    | undefined;
  toolResults?:
    | {
        [field: string]: unknown;
        callId: string;
        result?: unknown;
        error?: string | undefined;
      }[]
    | undefined;
  metadata?:
    | {
        [field: string]: unknown;
        model?: string | undefined;
        tokens?: { [field: string]: unknown; prompt: number; completion: number } | undefined;
        runId?: string | undefined;
        provider?: string | undefined;
      }
    | undefined;
  ts: number;
};

/** Zod's first issue with a value, in the form of `entry-check.ts`; null if there is none. */
export function judgeEntry(value: unknown): EntryFault | null {
  const issue = ENTRY.safeParse(value).error?.issues[0];
  if (issue === undefined) return null;
  return {
    field: issue.path.length === 0 ? "entry" : issue.path.join("."),
    reason: issue.code === "invalid_type" ? `expected ${issue.expected}` : ROLE_EXPECTED,
  };
}
