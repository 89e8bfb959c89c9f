/**
 * Endpoint: the address of a collector, and the headers to send.
 *
 * - What may be a secret (a header's value, a query, a password in an address) is in no error and
 *   no output: `shown` is the address without them, `redact` removes the values from a text of the
 *   collector.
 */

import { VerbatimError } from "../../core/base/errors.ts";

const TRACES_PATH = "/v1/traces";
/** Shorter values occur in any text. */
const SECRET_CHARS_MIN = 4;

export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Scheme, host and path. */
  readonly shown: string;
  redact(text: string): string;
}

/**
 * A collector's address, such as `http://localhost:4318`; `/v1/traces` is added unless it is there.
 * Refuses with BAD_SETTING.
 */
export function endpointOf(
  address: string,
  headers: Readonly<Record<string, string>> = {},
): Endpoint {
  const url = parsed(address);
  if (!url.pathname.endsWith(TRACES_PATH)) {
    url.pathname = url.pathname.replace(/\/*$/, TRACES_PATH);
  }
  url.hash = "";
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  const secrets = secretsIn([...Object.values(headers), ...url.searchParams.values(), url.search]);
  return {
    url: url.href,
    headers,
    shown: `${url.origin}${url.pathname}`,
    redact: (text) => secrets.reduce((left, secret) => left.replaceAll(secret, "***"), text),
  };
}

/** Values and their words, since `Bearer` may be left out; the longest first. */
function secretsIn(values: readonly string[]): string[] {
  const words = values.flatMap((value) => [value, ...value.split(/\s+/)]);
  return words
    .filter(({ length }) => length >= SECRET_CHARS_MIN)
    .sort((a, b) => b.length - a.length);
}

function parsed(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw refused("url", "must be an address that begins with http:// or https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("url", "has a user or a password; put them into an Authorization header");
  }
  return url;
}

function checkHeader(name: string, value: string): void {
  try {
    new Headers([[name, value]]);
  } catch {
    // The original reason would quote the value.
    throw refused("header", "is not valid in HTTP; write name=value, in printable characters");
  }
}

function refused(setting: string, reason: string): VerbatimError {
  return new VerbatimError("BAD_SETTING", `the collector's ${setting} ${reason}`, {
    setting,
    from: "options",
    reason,
  });
}
