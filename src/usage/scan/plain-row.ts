/** Plain row: the response in a row of Claude Code's shape, by parsing the row as a whole. */

type Fields = Readonly<Record<string, unknown>>;

export interface Response {
  readonly messageId: string | null;
  readonly requestId: string | null;
  readonly uuid: string | null;
  readonly model: string | null;
  /** Milliseconds since 1970; NaN if unknown. */
  readonly at: number;
  /** In US dollars; NaN if none was recorded. */
  readonly cost: number;
  readonly usage: Fields;
  readonly content: unknown;
  readonly isNested: boolean;
  readonly cwd: string | null;
  readonly sessionId: string | null;
}

/** Null: the row is not JSON, or has no response. */
export function responseIn(text: string): Response | null {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(row)) return null;
  const own = row.message;
  if (isObject(own) && isObject(own.usage)) return response(row, row, own, own.usage, false);
  // A subagent's row inside a progress row.
  const inner = isObject(row.data) ? row.data.message : null;
  const nested = isObject(inner) ? inner.message : null;
  if (!isObject(inner) || !isObject(nested) || !isObject(nested.usage)) return null;
  return response(row, inner, nested, nested.usage, true);
}

function response(
  ...[row, own, message, usage, isNested]: [Fields, Fields, Fields, Fields, boolean]
): Response {
  const at = timeOf(own.timestamp);
  return {
    messageId: textOf(message.id),
    requestId: textOf(own.requestId),
    uuid: textOf(own.uuid),
    model: textOf(message.model),
    at: Number.isNaN(at) ? timeOf(row.timestamp) : at,
    cost: typeof own.costUSD === "number" ? own.costUSD : Number.NaN,
    usage,
    content: message.content,
    isNested,
    cwd: textOf(row.cwd),
    sessionId: textOf(row.sessionId),
  };
}

function timeOf(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
