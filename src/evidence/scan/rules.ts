/**
 * Rules: what a kind of secret looks like in decoded text, and ours of keys and passwords, the most
 * dangerous first. Those of a package that we use are in `secretlint.ts`, those of what identifies a
 * person in `personal-rules.ts`.
 *
 * No text makes a rule slow. A rule sees a window of bounded size around each trigger, and our own
 * expressions have no unbounded repetition (`rules.test.ts` checks their sources).
 */

import { afterName, isDigit, type Trigger } from "./triggers.ts";

export interface Match {
  readonly start: number;
  readonly end: number;
}

export interface Rule extends Trigger {
  /** Stable: part of the output, and what `--rule` names. */
  readonly id: string;
  /** For people. */
  readonly what: string;
  /** A match ends at most this many bytes after its trigger begins. Default: AFTER_BYTES. */
  readonly after?: number;
  /** A value may be broken by the end of a line, as terminals do: its form tells it from other text. */
  readonly isBreakable?: true;
  /** Matches in decoded text in which characters outside ASCII are replaced. */
  find(text: string): Iterable<Match>;
}

/** A match begins at most this many bytes before its trigger. */
export const BEFORE_BYTES = 320;
export const AFTER_BYTES = 320;

/**
 * A rule of one expression. The value is its group `value`, or the whole match; `isReal` refuses
 * look-alikes.
 */
export function expressionRule(
  rule: Omit<Rule, "find"> & {
    readonly expression: RegExp;
    readonly isReal?: (value: string, match: RegExpExecArray) => boolean;
  },
): Rule & { readonly expression: RegExp } {
  const { isReal = () => true } = rule;
  const expression = new RegExp(rule.expression.source, `${rule.expression.flags}dg`);
  return {
    ...rule,
    expression: rule.expression,
    *find(text) {
      expression.lastIndex = 0;
      for (let match = expression.exec(text); match; match = expression.exec(text)) {
        const at = expression.lastIndex;
        const range = match.indices?.groups?.value ?? match.indices?.[0];
        const [start, end] = range as [number, number];
        if (isReal(text.slice(start, end), match)) yield { start, end };
        expression.lastIndex = at;
      }
    },
  };
}

/** Bits per character, by how often each occurs in the value. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count * Math.log2(count / value.length);
  return bits / value.length;
}

/** Values that documentation and templates have in place of a password. */
const PLACEHOLDER =
  /^(?:[$%{<[*]|x{3}|\.{3}|(?:your|my|the|some|user|pass|passw(?:or)?d|secret|token|changeme|example|redacted|hidden|null|none|true|false|undefined)\b)|(?:example|placeholder|redacted|dummy)/i;

/** A value that was assigned to a name such as `secret`: long, mixed and without a pattern. */
function isAssignedSecret(value: string, { groups }: RegExpExecArray): boolean {
  if (PLACEHOLDER.test(value) || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^passw/i.test(groups?.name ?? "")) return entropyOf(value) >= 2.5;
  return value.length >= 16 && entropyOf(value) >= 3.5;
}

/** Names of values that are random and public: signatures, hashes, what a provider encrypts. */
const PUBLIC_VALUE =
  /(?:sig\d?|signature|hash|sha\d{1,3}|root|digest|integrity|public_?key|encrypted_?content|data)["'`\\]{0,4}(?:\s?[:=]\s?["'`\\]{0,4}|-)$/i;

/** A string that only a random generator writes; not an id, a hash or a path. */
function isRandom(value: string, { input, index }: RegExpExecArray): boolean {
  if (PUBLIC_VALUE.test(input.slice(Math.max(0, index - 40), index))) return false;
  if (/^sha\d{3}-/.test(value)) return false;
  if (!/\d/.test(value) || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false;
  if (/^(?:[A-Za-z]{2,12}_|[a-z]{2,12}-)|[-_/]{2}/.test(value)) return false; // Ids: `toolu_01…`.
  if (value.split("/").length > 3 || value.split(/[-_]/).length > 5) return false;
  return entropyOf(value) >= 4.5;
}

/** At the beginning of a run: as long and as mixed as a value of the rule. */
function mayBeRandom(bytes: Uint8Array, at: number): boolean {
  let [upper, lower, digits] = [0, 0, 0];
  for (let n = at; n < at + 32; n++) {
    const byte = bytes[n] as number;
    if (isDigit(byte)) digits++;
    else if (byte >= 0x41 && byte <= 0x5a) upper++;
    else if (byte >= 0x61 && byte <= 0x7a) lower++;
  }
  return upper > 1 && lower > 1 && digits > 0 && upper + lower + digits > 25;
}

/** A name, then a value with a digit: nearly every `token` in a session is a count or a type. */
const ASSIGNED =
  /^[\w-]{2,32}["'`\\]{0,20}(?:\s|\\[nrt]){0,3}(?:=>|:=|[:=])(?:\s|\\[nrt]){0,3}["'`\\]{0,20}(?!\d{1,15}\b)(?=[^\s"'`]{0,80}\d)[A-Za-z0-9+/_.~!@#%^&*=-]{8}/;

function isAssigned(bytes: Uint8Array, at: number): boolean {
  // Most often nothing is assigned: that is seen without a string.
  let sign = at;
  while (sign < at + 80 && bytes[sign] !== 0x3a && bytes[sign] !== 0x3d) {
    const byte = bytes[sign] as number;
    if (byte === 0x2e || byte === 0x2c || byte === 0x28 || byte === 0x29 || byte === 0x3b)
      return false;
    sign++;
  }
  const length = Math.min(200, bytes.length - at);
  return ASSIGNED.test(Buffer.from(bytes.buffer, bytes.byteOffset + at, length).toString("latin1"));
}

/** Whether an `@` comes before the URL's host can have ended. */
function hasUserInfo(bytes: Uint8Array, at: number): boolean {
  let colons = 0;
  for (let n = at + 3; n < Math.min(bytes.length, at + 300); n++) {
    const byte = bytes[n] as number;
    if (byte === 0x40) return colons > 0;
    if (byte === 0x3a) colons++;
    if (byte <= 0x20 || byte === 0x2f || byte === 0x22) return false;
  }
  return false;
}

const TOKEN_END = "(?![A-Za-z0-9])";

const HYPHEN = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const LETTER_A = 0x41;

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66);
}

function areHex(bytes: Uint8Array, from: number, count: number): boolean {
  for (let at = from; at < from + count; at++) if (!isHex(bytes[at])) return false;
  return true;
}

/** 32, 8 and 8 hexadecimal digits. */
function mayBeMailgun(bytes: Uint8Array, at: number): boolean {
  const start = afterName(bytes, at);
  return bytes[start + 32] === HYPHEN && bytes[start + 41] === HYPHEN && areHex(bytes, start, 32);
}

/** Its first dot comes after 24 to 28 characters, its second seven bytes later. */
function mayBeDiscord(bytes: Uint8Array, at: number): boolean {
  let dot = at + 24;
  while (dot < at + 70 && bytes[dot] !== DOT) dot++;
  if (bytes[dot + 7] !== DOT || bytes.subarray(dot + 1, dot + 7).some((byte) => byte < 0x2d)) {
    return false;
  }
  // It begins with M, N or O: the base64 of a number.
  return bytes.subarray(dot - 28, dot - 23).some((byte) => byte >= 0x4d && byte <= 0x4f);
}

const WEBHOOK = Buffer.from("/api/webhooks/");

function isWebhook(bytes: Uint8Array, at: number): boolean {
  return WEBHOOK.every((byte, n) => bytes[at + n] === byte);
}

/** Eight to ten digits, then `:AA`. */
function mayBeTelegram(bytes: Uint8Array, at: number): boolean {
  const colon = isDigit(bytes[at + 8]) ? at + (isDigit(bytes[at + 9]) ? 10 : 9) : at + 8;
  return bytes[colon] === COLON && bytes[colon + 1] === LETTER_A && bytes[colon + 2] === LETTER_A;
}

export const SECRET_RULES = [
  expressionRule({
    id: "aws-key-id",
    isBreakable: true,
    what: "id of an AWS access key",
    near: ["AKIA", "ASIA", "ABIA", "ACCA"],
    expression: /(?<![A-Za-z0-9])A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])/,
    isReal: (value) => !value.endsWith("EXAMPLE"),
  }),
  expressionRule({
    id: "private-key",
    what: "private key in PEM, whole or cut off",
    near: ["-----BEGIN"],
    after: 12_000,
    expression:
      /-----BEGIN[ A-Z]{1,30}PRIVATE KEY(?: BLOCK)?-----[\sA-Za-z0-9+/=:,.()\\]{64,10000}(?:-----END[ A-Z]{1,30}-----)?/,
  }),
  expressionRule({
    id: "llm-key",
    isBreakable: true,
    what: "key or login of Anthropic, OpenRouter or xAI",
    near: ["sk-a", "sk-o", "xai-"],
    expression: new RegExp(
      "(?<![A-Za-z0-9])(?:sk-ant-(?:oat|ort|sid|admin)\\d\\d-[\\w-]{40,200}" +
        `|sk-or-v1-[0-9a-f]{64}|xai-[A-Za-z0-9]{70,90})${TOKEN_END}`,
    ),
  }),
  expressionRule({
    id: "google-api-key",
    isBreakable: true,
    what: "API key or OAuth secret of Google",
    near: ["AIza", "GOCSPX"],
    expression: /(?<![A-Za-z0-9])(?:AIza[\w-]{35}|GOCSPX-[\w-]{28})(?![\w-])/,
  }),
  expressionRule({
    id: "stripe",
    isBreakable: true,
    what: "live key of Stripe",
    near: ["k_live_", "whsec_"],
    expression: /(?<![A-Za-z0-9])(?:[sr]k_live_|whsec_)[A-Za-z0-9+/]{24,120}/,
  }),
  expressionRule({
    id: "pypi",
    isBreakable: true,
    after: 500,
    what: "upload token of PyPI",
    near: ["pypi-"],
    expression: /(?<![A-Za-z0-9])pypi-AgE[\w-]{50,400}/,
  }),
  expressionRule({
    id: "jwt",
    isBreakable: true,
    what: "JSON web token",
    near: ["eyJ"],
    after: 6_000,
    expression: /(?<![\w-])eyJ[\w-]{10,2000}\.eyJ[\w-]{10,3000}\.[\w-]{20,800}/,
  }),
  expressionRule({
    id: "twilio",
    what: "API key of Twilio, or a token next to its name",
    near: ["SK", "wilio", "WILIO"],
    check: (bytes, at) => bytes[at] !== 0x53 || areHex(bytes, at + 2, 12),
    isBreakable: true,
    expression: new RegExp(
      `(?<![A-Za-z0-9])SK[0-9a-f]{32}${TOKEN_END}|(?<=twilio[^\\n]{0,80}[^A-Za-z0-9])[0-9a-f]{32}${TOKEN_END}`,
      "i",
    ),
    isReal: (value) => value.toLowerCase() === value || /^SK[0-9a-f]+$/.test(value),
  }),
  expressionRule({
    id: "mailgun",
    what: "API key of Mailgun",
    near: ["key-"],
    run: 50,
    check: (bytes, at) => mayBeMailgun(bytes, at) || areHex(bytes, at + 4, 12),
    isBreakable: true,
    expression: new RegExp(
      `(?<![A-Za-z0-9])(?:key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})${TOKEN_END}`,
    ),
  }),
  expressionRule({
    id: "digitalocean",
    what: "token of DigitalOcean",
    near: ["dop_v1_", "doo_v1_", "dor_v1_"],
    isBreakable: true,
    expression: new RegExp(`(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}${TOKEN_END}`),
  }),
  expressionRule({
    id: "telegram",
    what: "token of a Telegram bot",
    near: [],
    hasDigits: true,
    check: mayBeTelegram,
    isBreakable: true,
    expression: /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![\w-])/,
  }),
  expressionRule({
    id: "discord",
    what: "token of a Discord bot, or the address of a webhook",
    near: [WEBHOOK.toString()],
    run: 24,
    check: (bytes, at) => isWebhook(bytes, at) || mayBeDiscord(bytes, at),
    isBreakable: true,
    expression:
      /(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])|(?<=discord(?:app)?\.com\/api\/webhooks\/)\d{15,21}\/[\w-]{60,80}/,
  }),
  expressionRule({
    id: "supabase",
    what: "access token or secret key of Supabase",
    near: ["sbp_", "sb_secret_"],
    isBreakable: true,
    expression: new RegExp(
      `(?<![A-Za-z0-9])(?:sbp_[0-9a-f]{40}|sb_secret_[\\w-]{30,50})${TOKEN_END}`,
    ),
  }),
  expressionRule({
    id: "authorization",
    after: 900,
    what: "value of an Authorization header",
    near: ["Bearer ", "bearer ", "Basic ", "basic "],
    expression:
      /(?:authorization["'`]?\s{0,3}[:=]\s{0,3}["'`]?basic|bearer) (?<value>[A-Za-z0-9+/_.~=-]{16,800})/i,
    isReal: (value) => /\d/.test(value) && !PLACEHOLDER.test(value) && entropyOf(value) >= 3,
  }),
  expressionRule({
    id: "url-password",
    what: "password in a URL",
    near: ["://"],
    check: hasUserInfo,
    expression:
      /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'<>]{0,100}:(?<value>[^\s@"'<>/]{1,200})@[A-Za-z0-9[$%{]/i,
    isReal: (value) => !PLACEHOLDER.test(value) && !/^(.)\1*$/.test(value),
  }),
  expressionRule({
    id: "assigned-secret",
    what: "random value assigned to a password, secret, token or key",
    near: [
      "passw",
      "Passw",
      "PASSW",
      "secret",
      "Secret",
      "SECRET",
      "token",
      "Token",
      "TOKEN",
      "api_key",
      "apikey",
      "apiKey",
      "ApiKey",
      "API_KEY",
      "APIKEY",
      "api-key",
      "access_key",
      "accessKey",
      "ACCESS_KEY",
      "AccountKey",
    ],
    check: isAssigned,
    expression:
      /(?<name>passw(?:or)?d|secret|token|api[_-]?key|access_?key|AccountKey)[\w-]{0,24}["'`]?\s{0,3}(?:=>|:=|[:=])\s{0,3}["'`]?(?<value>[A-Za-z0-9+/_.~!@#%^&*=-]{8,200})(?![A-Za-z0-9([])/i,
    isReal: isAssignedSecret,
  }),
  expressionRule({
    id: "high-entropy",
    what: "string of 32 to 128 random characters",
    near: [],
    run: 32,
    check: mayBeRandom,
    expression: /(?<![A-Za-z0-9+/_=.@:-])[A-Za-z0-9+/_-]{32,128}={0,2}(?![A-Za-z0-9+/_=.-])/,
    isReal: isRandom,
  }),
] as const;
