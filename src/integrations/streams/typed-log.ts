/**
 * Typed log: a stream of values that match a schema, over the engine.
 *
 * Works with any Standard Schema validator (Zod, Valibot, ArkType).
 *
 * The JSON of a value is both checked and stored. The schema's result is not stored, so a default
 * or a transformation is never applied twice. An unreadable line is skipped, counted and reported,
 * and does not hide others.
 */

import type { StandardSchemaV1 } from "@standard-schema/spec";
import { badArgument, checkKind, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { badLineWarning, checkOnBadLine, type OnBadLine } from "../../core/log/bad-line-warning.ts";
import { decodeLine, encodeLine } from "../../core/log/json.ts";
import { type OffsetToken, parseOffset } from "../../streams/files/offset-token.ts";
import { JsonlEngine } from "./jsonl-engine.ts";

/** A message that is not a value of the log: damaged, not JSON, or refused by the schema. */
export interface BadMessage {
  /** From 1; null if reading did not begin at the start. */
  readonly line: number | null;
  /** The offset after it. */
  readonly offset: OffsetToken;
  readonly reason: string;
}

export interface TypedLogOptions {
  /** Also validates when reading, and returns the schema's result. Default: false. */
  readonly validatesOnRead?: boolean;
  /** Default: `skip`, with one process warning that lists the bad line numbers. */
  readonly onBadLine?: OnBadLine<BadMessage>;
}

export interface TypedLog<Input, Value> {
  readonly streamPath: string;
  /** Appends a value that the schema accepts; otherwise throws INVALID_ENTRY. */
  append(value: Input): Promise<OffsetToken>;
  /** All values, or those after an offset. */
  read(afterOffset?: OffsetToken): Promise<Value[]>;
  /** The same one by one, in constant memory. */
  readStream(afterOffset?: OffsetToken): AsyncGenerator<Value>;
  /** Number of messages, including bad ones. */
  count(): Promise<number>;
}

const OPTIONS: OptionKinds<TypedLogOptions> = { validatesOnRead: "boolean", onBadLine: "any" };

type CheckedValue = { readonly value: unknown; readonly fault: string | null };

/**
 * A log of values that `schema` allows, in a stream that exists.
 *
 * @example
 * const log = typedLog(engine, "/chat/session-1", z.object({ role: z.string(), content: z.string() }));
 * await log.append({ role: "user", content: "hello" });
 */
export function typedLog<Schema extends StandardSchemaV1>(
  engine: JsonlEngine,
  streamPath: string,
  schema: Schema,
  options: TypedLogOptions & { readonly validatesOnRead: true },
): TypedLog<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>>;
export function typedLog<Schema extends StandardSchemaV1>(
  engine: JsonlEngine,
  streamPath: string,
  schema: Schema,
  options?: TypedLogOptions,
): TypedLog<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferInput<Schema>>;
export function typedLog(
  engine: JsonlEngine,
  streamPath: string,
  schema: StandardSchemaV1,
  options: TypedLogOptions = {},
): TypedLog<unknown, unknown> {
  checkArguments(engine, streamPath, schema);
  checkOptions("typedLog", options, OPTIONS);
  const { validatesOnRead = false, onBadLine = "skip" } = options;
  checkOnBadLine(onBadLine);
  return { streamPath, append, read, readStream, count: () => engine.messageCount(streamPath) };

  async function append(value: unknown): Promise<OffsetToken> {
    const line = encodeLine(value);
    await refuseUnlessAllowed(schema, decoded(line).value);
    return engine.append(streamPath, line);
  }

  async function read(afterOffset?: OffsetToken): Promise<unknown[]> {
    const values: unknown[] = [];
    for await (const value of readStream(afterOffset)) values.push(value);
    return values;
  }

  async function* readStream(afterOffset?: OffsetToken): AsyncGenerator<unknown> {
    const warning = badLineWarning(streamPath);
    let line = 0;
    const tell = (offset: OffsetToken, reason: string) => {
      const bad = { line: afterOffset === undefined ? line : null, offset, reason };
      if (onBadLine === "throw") throw badLine(streamPath, bad);
      if (onBadLine === "skip") warning.add(bad);
      else onBadLine(bad);
    };
    const onDamaged = (offset: OffsetToken) => {
      line++;
      tell(offset, "damaged");
    };
    try {
      for await (const { data, offset } of engine.messages(streamPath, afterOffset, onDamaged)) {
        line++;
        const { value, fault } = await judged(data);
        if (fault === null) yield value;
        else tell(offset, fault);
      }
    } finally {
      warning.emit();
    }
  }

  async function judged(data: Uint8Array): Promise<CheckedValue> {
    const { value, fault } = decoded(data);
    if (fault !== null || !validatesOnRead) return { value, fault };
    const result = await schema["~standard"].validate(value);
    if (result.issues === undefined) return { value: result.value, fault: null };
    return { value: undefined, fault: `refused by the schema at ${fieldOf(result.issues[0])}` };
  }
}

function checkArguments(engine: unknown, streamPath: unknown, schema: unknown): void {
  if (!(engine instanceof JsonlEngine)) {
    throw badArgument("typedLog", "takes an engine first: one that openStreams gave");
  }
  checkKind("streamPath", streamPath, "text");
  const { "~standard": standard } = (schema ?? {}) as Partial<StandardSchemaV1>;
  if (typeof standard?.validate !== "function") {
    throw badArgument(
      "typedLog",
      "takes a schema that speaks Standard Schema (Zod, Valibot, ArkType)",
    );
  }
}

function decoded(data: Uint8Array): CheckedValue {
  return decodeLine(Buffer.from(data.buffer, data.byteOffset, data.length), 0, data.length);
}

async function refuseUnlessAllowed(schema: StandardSchemaV1, value: unknown): Promise<void> {
  const { issues } = await schema["~standard"].validate(value);
  if (issues === undefined) return;
  const field = fieldOf(issues[0]);
  // A validator's message may quote the value (Valibot 1.5 does), so it is not passed on.
  const reason = `refused by the schema (${schema["~standard"].vendor})`;
  throw new VerbatimError(
    "INVALID_ENTRY",
    `the value is ${reason} at ${field}; nothing was appended`,
    { field, reason },
  );
}

/** Path of the validator's issue: `tools.0.name`, or `(the whole)`. */
function fieldOf(issue: StandardSchemaV1.Issue | undefined): string {
  // Not `map`: a path may be an Array subclass whose `map` returns its own class (ArkType 2.2).
  const keys = Array.from(issue?.path ?? [], (part) =>
    String(typeof part === "object" ? part.key : part),
  );
  return keys.join(".") || "(the whole)";
}

function badLine(path: string, { line, offset, reason }: BadMessage): VerbatimError<"BAD_LINE"> {
  const where = line === null ? `the line before ${offset}` : `line ${line}`;
  return new VerbatimError(
    "BAD_LINE",
    `${where} of ${path} is bad: ${reason}; read with onBadLine: "skip" to pass over it`,
    { path, line, offset: parseOffset(offset)?.byteOffset ?? 0, reason },
  );
}
