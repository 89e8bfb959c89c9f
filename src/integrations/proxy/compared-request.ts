/**
 * Compared request: what of a request counts when a replay looks for its answer, and where two
 * differ. Page: docs/formats/wire.md, "Replay".
 */

import { get, isObject, type JsonObject } from "../../dialects/shared/fields.ts";
import { isVolatile, parsedJson } from "../wire/provider-api.ts";

/** Who calls, and ids for caches: programs make new ones for each run. */
const UNCOUNTED = ["metadata", "client_metadata", "prompt_cache_key", "safety_identifier", "user"];

/** What Codex says of each message: when it was made. */
const MESSAGE_TIMES = "internal_chat_message_metadata_passthrough";

/** In ids of messages and threads, and in what programs say of their files. */
const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Bytes before and after the first difference that are shown, and that are searched for secrets. */
const [SHOWN_BEFORE, SHOWN_AFTER, SEARCHED] = [40, 120, 4096];

/** What counts of a request, with its keys in order. A text that is no object counts as it is. */
export function comparable(text: string): unknown {
  const body = parsedJson(text);
  if (!isObject(body)) return text;
  return counted(
    Object.fromEntries(Object.entries(body).filter(([key]) => !UNCOUNTED.includes(key))),
  );
}

function counted(value: unknown): unknown {
  if (typeof value === "string") return isVolatile(value) ? "" : value.replace(UUIDS, "uuid");
  if (Array.isArray(value)) return value.map(counted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value)
    .filter((key) => key !== MESSAGE_TIMES)
    .sort();
  return Object.fromEntries(keys.map((key) => [key, counted(value[key])]));
}

export interface Difference {
  /** A JSON path, such as `$.messages[2].content`. */
  readonly path: string;
  readonly recorded: unknown;
  readonly sent: unknown;
}

/** Null: there is none. */
export function firstDifference(recorded: unknown, sent: unknown, path = "$"): Difference | null {
  const areLists = Array.isArray(recorded) && Array.isArray(sent);
  if (!areLists && !(isObject(recorded) && isObject(sent))) {
    return recorded === sent ? null : { path, recorded, sent };
  }
  const keys = new Set([...Object.keys(recorded), ...Object.keys(sent)]);
  for (const key of keys) {
    const place = areLists ? `${path}[${key}]` : `${path}.${key}`;
    const [one, other] = [recorded, sent].map((value) => get(value as JsonObject, key));
    const difference = firstDifference(one, other, place);
    if (difference) return difference;
  }
  return null;
}

/** Both values from a little before where they differ, without what looks like a secret. */
export async function shownValues({ recorded, sent }: Difference): Promise<[string, string]> {
  const { allRules, SecretFinder } = await import("../../evidence/scan/find-secrets.ts");
  const finder = new SecretFinder(await allRules());
  const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value) ?? "nothing");
  const [one, other] = [bytesOf(recorded), bytesOf(sent)];
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const excerpt = (bytes: Buffer): string => {
    const from = Math.max(0, at - SEARCHED);
    const near = Buffer.from(bytes.subarray(from, at + SEARCHED));
    for (const { start, end } of finder.find(near)) near.fill("*", start, end);
    const first = Math.max(0, at - SHOWN_BEFORE) - from;
    const text = near.subarray(first, first + SHOWN_BEFORE + SHOWN_AFTER).toString();
    const isCut = near.length > first + SHOWN_BEFORE + SHOWN_AFTER;
    return `${from + first > 0 ? "…" : ""}${text}${isCut ? "…" : ""}`;
  };
  return [excerpt(one), excerpt(other)];
}
