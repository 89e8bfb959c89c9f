/** Database errors: what the driver's errors mean, and ours for them. */

import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { oneLine } from "../../core/base/one-line.ts";

/** SQLSTATEs that say that the server or the connection is gone, not that the request is wrong. */
const GONE = /^(?:08...|57P0[1235]|53300|25006)$/;
const READ_ONLY = "25006";
const MESSAGE_CHARS_MAX = 200;

/** The connection failed, or the server is stopping, starting, or not the primary. */
export function isBroken(error: unknown): boolean {
  if (error instanceof VerbatimError) return false;
  const isFromServer = error instanceof Error && "severity" in error;
  return !isFromServer || GONE.test(errnoOf(error));
}

/** The server is a standby, or was made read-only: it has not begun the statement. */
export function isReadOnly(error: unknown): boolean {
  return errnoOf(error) === READ_ONLY;
}

export function readOnly(): Error {
  const facts = { code: READ_ONLY, severity: "ERROR" };
  return Object.assign(new Error("the server is read-only"), facts);
}

/** A statement was not answered in time. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/** PostgreSQL undid the whole statement because of other transactions: it may be sent again. */
export function isUndone(error: unknown): boolean {
  return ["40001", "40P01"].includes(errnoOf(error));
}

/** The bytes that PostgreSQL read are not those it wrote. */
export function isDamage(error: unknown): boolean {
  return ["XX001", "XX002"].includes(errnoOf(error));
}

/** SQLSTATEs of wrong addresses and accounts: what to do. */
const REFUSED: Readonly<Record<string, string>> = {
  "3D000": "there is no such database; create it with `createdb`, or correct the name in the URL",
  "28000": "the user is not accepted; check the user in the URL, and pg_hba.conf of the database",
  "28P01": "the password is wrong or missing; check the user in the URL, PGPASSWORD or PGPASSFILE",
  "42501": "the user may not do this; make it the owner of the database, or of the schema",
};

/** What is wrong with the address or the account; undefined for any other error. */
export function refusedReason(cause: unknown): string | undefined {
  const lacksPassword = cause instanceof Error && /^SASL: .*password/.test(cause.message);
  return REFUSED[lacksPassword ? "28P01" : errnoOf(cause)];
}

/** Our error for one of the driver. Its message names no values, so it may be shown. */
export function databaseError(
  place: string,
  cause: unknown,
  outcome: "unchanged" | "unknown" = "unchanged",
): VerbatimError {
  if (cause instanceof VerbatimError) return cause;
  const code = errnoOf(cause);
  const reason = refusedReason(cause);
  if (reason !== undefined) {
    const text = `${place} is not used: ${reason}`;
    return new VerbatimError("POSTGRES_REFUSED", text, { path: place, reason }, { cause });
  }
  if (isBroken(cause)) return unavailable(place, cause, outcome);
  if (code === "53100") {
    const details = { path: place, end: 0, bytes: 0 };
    const text = `${place}: the database's disk is full; nothing was stored. Free space there`;
    return new VerbatimError("NO_SPACE", text, details, { cause });
  }
  return new VerbatimError(
    "IO_ERROR",
    `${place} refused a statement with SQLSTATE ${code}; its log says more`,
    { path: place, operation: "a statement", errno: code },
    { cause },
  );
}

export function unavailable(
  place: string,
  cause: unknown,
  outcome: "unchanged" | "unknown",
): VerbatimError<"STORE_UNAVAILABLE"> {
  const reason = `the database does not answer: ${causeText(cause)}`;
  const next =
    outcome === "unchanged"
      ? "nothing was changed; retry in a moment"
      : "the request may have been carried out; read again before you repeat it";
  const details = { path: place, reason, outcome };
  return new VerbatimError("STORE_UNAVAILABLE", `${place}: ${reason}; ${next}`, details, { cause });
}

/** In the driver's words, and PostgreSQL's codes. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^Query read timeout$/, "no answer in time"],
  [/timeout/i, "no connection in time"],
  [/^Connection terminated/, "the connection was closed"],
  [/^25006$/, "the server is read-only, such as a standby (25006)"],
  [/^57P01$/, "the server is shutting down (57P01)"],
  [/^57P02$/, "the server has crashed (57P02)"],
  [/^57P03$/, "the server is starting, or is a standby without connections (57P03)"],
  [/^57P05$/, "the server closed an idle connection (57P05)"],
  [/^53300$/, "the server has too many connections (53300)"],
  [/^ECONNREFUSED$/, "nothing listens at its address (ECONNREFUSED)"],
  [/^ECONNRESET$/, "the connection was reset (ECONNRESET)"],
  [/^ENOTFOUND$/, "its host name is not known (ENOTFOUND)"],
  [/^ENOENT$/, "nothing listens at its socket (ENOENT)"],
];

/** Why a connection or a statement failed, in a few words. */
export function causeText(cause: unknown): string {
  if (cause instanceof VerbatimError) {
    const { details } = cause;
    return "reason" in details ? String(details.reason) : cause.message;
  }
  const code = errnoOf(cause);
  const message = cause instanceof Error ? cause.message : String(cause);
  const sentence = code === "UNKNOWN" ? message : code;
  const reason = CAUSES.find(([form]) => form.test(sentence))?.[1];
  if (reason !== undefined) return reason;
  return code === "UNKNOWN" ? oneLine(message, MESSAGE_CHARS_MAX) : code;
}
