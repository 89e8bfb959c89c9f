/**
 * Entry check: validates an entry that a caller wants to append, field by field.
 *
 * JavaScript callers have no compiler to catch a misspelt field, and a field that no dialect knows
 * would be acknowledged without being in any log. So every entry is checked before a dialect sees
 * it, and unknown fields, part types and roles are refused with INVALID_ENTRY.
 *
 * - The result is a plain copy (plain-json.ts) in the caller's order. Nullable fields may be left
 *   out: they are null in the copy, where the type has them.
 * - Every dialect writes every known field, or refuses the entry.
 */

import type { Entry, NewEntry, Part, Role, SessionLabels } from "./entry.ts";
import { isBase64, isMediaType } from "./media.ts";
import { PlainCopy, refuseEntry } from "./plain-json.ts";

export const KINDS = ["start", "message", "turn_start", "turn_end", "end", "other"] as const;
export const ROLES: readonly Role[] = ["system", "user", "assistant", "tool"];
const OUTCOMES = ["completed", "error"] as const;

type Check = (value: unknown, copy: PlainCopy) => unknown;

interface Field {
  readonly check: Check;
  /** The result for a field that is left out or undefined. */
  readonly missing: "refused" | "null" | "left out";
}

type Shape = Readonly<Record<string, Field>>;

const text: Check = (value, copy) =>
  typeof value === "string" ? value : copy.refuse("expected text");
const filled: Check = (value, copy) =>
  text(value, copy) === "" ? copy.refuse("expected text that is not empty") : value;
const number: Check = (value, copy) => copy.number(value);
const json: Check = (value, copy) => copy.json(value);

/** A time with its offset from UTC: without one it would be ambiguous. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
const time: Check = (value, copy) => {
  const isTime =
    typeof value === "string" && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value));
  return isTime ? value : copy.refuse("expected a time as 2026-11-15T10:00:00.000Z");
};

function oneOf(choices: readonly unknown[]): Check {
  return (value, copy) =>
    choices.includes(value) ? value : copy.refuse(`expected one of ${choices.join(", ")}`);
}

function orNull(check: Check): Check {
  return (value, copy) => (value === null ? null : check(value, copy));
}

const required = (check: Check): Field => ({ check, missing: "refused" });
/** Null when left out. */
const nullable = (check: Check): Field => ({ check: orNull(check), missing: "null" });
/** Left out when null. */
const optional = (check: Check): Field => ({
  check: (value, copy) => (value === null ? undefined : check(value, copy)),
  missing: "left out",
});
/** Null or left out, as the caller passed it. */
const either = (check: Check): Field => ({ check: orNull(check), missing: "left out" });

const USAGE: Shape = {
  inputTokens: nullable(number),
  outputTokens: nullable(number),
  cacheWriteTokens: optional(number),
  cacheReadTokens: optional(number),
  totalTokens: nullable(number),
  spend: nullable(number),
};

const ERROR: Shape = { code: required(text), detail: required(text) };

const base64: Check = (value, copy) =>
  typeof value === "string" && isBase64(value) ? value : copy.refuse("expected base64");
const mediaType: Check = (value, copy) =>
  isMediaType(text(value, copy) as string)
    ? value
    : copy.refuse("expected a media type, such as image/png");

const MEDIA: Shape = {
  mediaType: nullable(mediaType),
  name: optional(filled),
  data: optional(base64),
  path: optional(filled),
  url: optional((value, copy) =>
    URL.canParse(text(value, copy) as string) ? value : copy.refuse("expected a URL"),
  ),
};

const PARTS: Readonly<Record<Part["type"], Shape>> = {
  text: { text: required(text) },
  reasoning: {
    text: required(text),
    signature: optional(text),
    withheld: optional(text),
    provider: optional(text),
  },
  tool_call: { callId: nullable(text), tool: required(text), input: nullable(json) },
  tool_result: {
    callId: nullable(text),
    output: nullable(json),
    // Some dialects would read an empty text as no error, and the failure would be lost.
    error: nullable(filled),
    durationMs: nullable(number),
  },
  child: { session: required(text), agent: nullable(text) },
  image: MEDIA,
  file: MEDIA,
  other: { native: required(json) },
};

const PART_TYPES = Object.keys(PARTS);

const part: Check = (value, copy) => {
  const given = copy.plain(value);
  const type = copy.within(given, "type", (typeName) =>
    PART_TYPES.includes(typeName as string)
      ? (typeName as Part["type"])
      : copy.refuse(`expected one of ${PART_TYPES.join(", ")}`),
  );
  // Keeps the type that was read: a getter may return another one next time.
  const fields = { type: { check: () => type, missing: "refused" }, ...PARTS[type] } as const;
  const checked = shaped(given, fields, copy, `a ${type} part`);
  if (type === "image" || type === "file") checkMedia(checked, copy);
  return checked;
};

function checkMedia(media: Readonly<Record<string, unknown>>, copy: PlainCopy): void {
  const { type, mediaType } = media;
  const places = ["data", "path", "url"].filter((key) => media[key] !== undefined);
  if (places.length !== 1) copy.refuse("expected its bytes as data (base64), or their url");
  const isImage = typeof mediaType === "string" && mediaType.startsWith("image/");
  copy.within(media, "mediaType", () => {
    if (mediaType === null && media.data !== undefined) copy.refuse("it is missing");
    if (mediaType !== null && isImage !== (type === "image")) {
      copy.refuse("an image part has image/…, a file part another media type");
    }
  });
}

const object: Check = (value, copy) => {
  copy.plain(value);
  return copy.json(value);
};

const ENTRY: Readonly<Record<Exclude<keyof Entry, "native" | "saidBy">, Field>> = {
  kind: required(oneOf(KINDS)),
  at: either(time),
  role: either(oneOf(ROLES)),
  parts: optional((value, copy) => copy.list(value, (item) => part(item, copy))),
  model: either(text),
  messageId: optional(filled),
  stopReason: optional(text),
  // False means the same as leaving it out.
  isPartial: optional((value, copy) =>
    typeof value === "boolean" ? value || undefined : copy.refuse("expected true"),
  ),
  usage: either((value, copy) => shaped(copy.plain(value), USAGE, copy, "a usage")),
  outcome: either(oneOf(OUTCOMES)),
  error: either((value, copy) => shaped(copy.plain(value), ERROR, copy, "an error")),
  metadata: optional(object),
};

/** A list of sessions has the labels of each. */
export const LABEL_LIMITS = { charsMax: 200, tagsMax: 20, metadataCharsMax: 4096 } as const;

const label: Check = (value, copy) => {
  const { charsMax } = LABEL_LIMITS;
  const given = filled(value, copy) as string;
  return given.length <= charsMax ? given : copy.refuse(`longer than ${charsMax} characters`);
};

const LABELS: Readonly<Record<keyof SessionLabels, Field>> = {
  title: optional(label),
  tags: optional((value, copy) => {
    const { tagsMax } = LABEL_LIMITS;
    const tags = copy.list(value, (tag) => label(tag, copy));
    return tags.length <= tagsMax ? tags : copy.refuse(`more than ${tagsMax} tags`);
  }),
  user: optional(label),
  metadata: optional((value, copy) => {
    const { metadataCharsMax } = LABEL_LIMITS;
    const fields = object(value, copy);
    if (JSON.stringify(fields).length <= metadataCharsMax) return fields;
    return copy.refuse(`longer than ${metadataCharsMax} characters as JSON`);
  }),
};
export const LABEL_NAMES = Object.keys(LABELS) as readonly (keyof SessionLabels)[];

/** Hints for fields that callers mistake for fields of an entry. */
const INSTEAD: Readonly<Record<string, string>> = {
  content: 'not a field of an entry: say it in parts, such as [{ type: "text", text: "…" }]',
  text: 'not a field of an entry: say it in parts, such as [{ type: "text", text: "…" }]',
  native:
    "not a field of a new entry: leave it out; appendLines appends lines of the dialect itself",
  type: "not a field of an entry: appendLines appends lines of the dialect itself",
};

/**
 * Returns the entry as it will be written; throws INVALID_ENTRY.
 *
 * @example checkedEntry({ kind: "message", role: "user", content: "Hi" }) // refused: content
 */
export function checkedEntry(value: unknown): NewEntry {
  const copy = new PlainCopy();
  return copy.run(() => shaped(copy.plain(value), ENTRY, copy, "an entry") as unknown as NewEntry);
}

/** Only readers of other programs' sessions know no more than a path. */
export function refuseNamedFiles({ parts = [] }: NewEntry): void {
  const at = parts.findIndex((part) => "path" in part);
  if (at === -1) return;
  const reason = "the file can change or vanish: read it, and pass its bytes as data, in base64";
  refuseEntry(`parts.${at}.path`, reason);
}

/** The labels of a session as they will be written; throws INVALID_ENTRY. */
export function checkedLabels(labels: SessionLabels): SessionLabels {
  const copy = new PlainCopy();
  return copy.run(() => shaped(copy.plain(labels), LABELS, copy, "a session's labels"));
}

function shaped(fields: object, shape: Shape, copy: PlainCopy, what: string) {
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    copy.within(fields, key, (value) => {
      if (value === undefined) return;
      const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
      const checked = field ? field.check(value, copy) : unknown(key, shape, copy, what);
      if (checked !== undefined) copied[key] = checked;
    });
  }
  for (const [key, { missing }] of Object.entries(shape)) {
    if (missing === "left out" || Object.hasOwn(copied, key)) continue;
    if (missing === "refused") copy.within({}, key, () => copy.refuse("it is missing"));
    copied[key] = null;
  }
  return copied;
}

function unknown(key: string, shape: Shape, copy: PlainCopy, what: string): never {
  const instead = shape === ENTRY && Object.hasOwn(INSTEAD, key) ? INSTEAD[key] : undefined;
  return copy.refuse(
    instead ?? `not a field of ${what}, which has ${Object.keys(shape).join(", ")}`,
  );
}
