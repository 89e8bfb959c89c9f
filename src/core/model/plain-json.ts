/**
 * Plain JSON: a copy of a caller's value that JSON writes exactly, or an error that names the
 * field.
 *
 * - Every property is read once. The checked value is the written one, whatever a getter, a proxy
 *   or the caller does later.
 * - No value changes on its way to the log. JSON turns NaN and Infinity into null, -0 into 0, array
 *   holes into null, and a Map, a Date or a class instance into something else; those are refused.
 *   An undefined field is left out.
 * - No reason quotes a value: prompts and tool output do not reach error texts.
 */

import { VerbatimError } from "../base/errors.ts";
import { ENTRY_DEPTH_MAX, ENTRY_VALUES_MAX } from "../base/limits.ts";
import { oneLine } from "../base/one-line.ts";

const SHOWN_CHARS_MAX = 40;

/** The error of every entry check. `reason` says what was expected or is wrong. */
export function invalidEntry(
  field: string,
  reason: string,
  cause?: unknown,
): VerbatimError<"INVALID_ENTRY"> {
  return new VerbatimError(
    "INVALID_ENTRY",
    `the entry is refused: ${field}: ${reason}; nothing was written`,
    { field, reason },
    cause === undefined ? {} : { cause },
  );
}

/** Names the field and the fault, never the field's value. */
export function refuseEntry(field: string, reason: string): never {
  throw invalidEntry(field, reason);
}

/** Copies a value, and tracks the path of the current field. */
export class PlainCopy {
  readonly #path: string[] = [];
  #valuesLeft = ENTRY_VALUES_MAX;

  /** The current field, such as `parts.0.input.path`. */
  get field(): string {
    if (this.#path.length === 0) return "entry";
    return this.#path.map((key) => oneLine(key, SHOWN_CHARS_MAX)).join(".");
  }

  refuse(reason: string): never {
    throw invalidEntry(this.field, reason);
  }

  /** Runs `copy`; an exception from the caller's own code (a getter, a proxy) becomes a refusal. */
  run<T>(copy: () => T): T {
    try {
      return copy();
    } catch (cause) {
      if (cause instanceof VerbatimError) throw cause;
      throw invalidEntry(this.field, "it cannot be read", cause);
    }
  }

  /** Reads a field of an object and copies its value. */
  within<T>(object: object, key: string, copy: (value: unknown) => T): T {
    this.#path.push(key);
    const copied = copy((object as Record<string, unknown>)[key]);
    this.#path.pop();
    return copied;
  }

  /** Any JSON value. */
  json(value: unknown): unknown {
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number") return this.number(value);
    if (typeof value !== "object")
      return this.refuse(`${typeName(value)} cannot be written as JSON`);
    if (this.#path.length > ENTRY_DEPTH_MAX) {
      this.refuse(`it nests more than ${ENTRY_DEPTH_MAX} deep, or contains itself`);
    }
    if (Array.isArray(value)) return this.list(value, (item) => this.json(item));
    return this.#object(this.plain(value));
  }

  number(value: unknown): number {
    if (typeof value !== "number") return this.refuse("expected a number");
    if (!Number.isFinite(value)) return this.refuse(`JSON cannot write ${value}`);
    return Object.is(value, -0) ? this.refuse("JSON writes -0 as 0") : value;
  }

  list<T>(value: unknown, copy: (item: unknown) => T): T[] {
    if (!Array.isArray(value)) return this.refuse("expected a list");
    const { length } = value;
    this.#count(length);
    const copied: T[] = [];
    for (let at = 0; at < length; at++) {
      copied.push(this.within(value, String(at), (item) => copy(this.#item(item))));
    }
    if (Object.keys(value).length !== length) this.refuse("a list with fields of its own");
    return copied;
  }

  #item(item: unknown): unknown {
    return item === undefined ? this.refuse("JSON writes undefined as null in a list") : item;
  }

  /** Returns the value if it is a plain object. */
  plain(value: unknown): object {
    if (Array.isArray(value)) return this.refuse("expected an object, not a list");
    if (typeof value !== "object" || value === null) return this.refuse("expected an object");
    const prototype: unknown = Object.getPrototypeOf(value);
    // The second test accepts plain objects of another realm, such as a `vm` context.
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    return isPlain
      ? value
      : this.refuse(`${typeName(value)} would change in JSON; pass a plain object`);
  }

  #object(value: object): object {
    const copied: Record<string, unknown> = {};
    const keys = Object.keys(value);
    this.#count(keys.length);
    for (const key of keys) {
      this.within(value, key, (held) => {
        if (held !== undefined) setField(copied, key, this.json(held));
      });
    }
    return copied;
  }

  /** Without this, a few objects that contain each other many times would take forever. */
  #count(values: number): void {
    this.#valuesLeft -= values;
    if (this.#valuesLeft < 0) this.refuse(`it holds more than ${ENTRY_VALUES_MAX} values`);
  }
}

/** Assigning to `__proto__` would set the prototype. */
export function setField(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { ...OWN_FIELD, value });
}

const OWN_FIELD = { configurable: true, enumerable: true, writable: true };

/** The kind of a value ("a function", "a Map"), never its contents. */
function typeName(value: unknown): string {
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${oneLine(name, SHOWN_CHARS_MAX)}` : "it";
}
