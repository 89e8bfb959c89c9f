/**
 * Rules of ours, the most dangerous first. Those for single services are in `service-rules.ts`,
 * those of a package that we use in `secretlint.ts`.
 */

import { expressionRule } from "./rule.ts";
import { IBAN, SERVICE_RULES } from "./service-rules.ts";
import { DIGIT, isDigit } from "./triggers.ts";

/** Bits per character, by how often each occurs in the value. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count * Math.log2(count / value.length);
  return bits / value.length;
}

/** In North America: no area has the code 555, and 555-01XX is kept for fiction. */
const FICTIONAL_PHONE = /^1?(?:555\d{7}|\d{3}55501\d{2})$/;

/** Values that documentation and templates have in place of a password. */
const PLACEHOLDER =
  /^(?:[$%{<[*]|x{3}|\.{3}|(?:your|my|the|some|user|pass|passw(?:or)?d|secret|token|changeme|example|redacted|hidden|null|none|true|false|undefined)\b)|(?:example|placeholder|redacted|dummy)/i;

/** Domains that RFC 2606 and RFC 6761 reserve, and those of addresses that nothing is sent to. */
const RESERVED_DOMAIN =
  /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid|localhost|local)$|\bno-?reply\b/i;
/** Domains that people write for any domain. */
const ANY_DOMAIN =
  /^(?:test|foo|bar|baz|domain|(?:your|my|some)-?(?:domain|company)|company|acme)\.(?:com|net|org|dev|io)$/i;
/** Names of files, as in `icon@2x.png` and `user@host.service`. */
const FILE_ENDING =
  /\.(?:png|jpe?g|gif|svg|webp|ts|js|mjs|cjs|tsx|jsx|json|md|py|go|rs|sh|service|timer|socket|mount|target)$/i;
/** Accounts that are not a person's. */
const NOT_A_PERSON = /^(?:git|noreply|no-reply|hg|svn|root|user|username)@/i;

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

/** Blank, brackets, hyphen and dot between groups of digits. */
const isJoin = (byte: number | undefined) => {
  return byte === 32 || byte === 45 || byte === 46 || byte === 40 || byte === 41;
};

/** How many digits begin here, also in groups; looks at 24 bytes. */
function digitsFrom(bytes: Uint8Array, from: number): number {
  let digits = 0;
  for (let at = from; at < from + 24; at++) {
    if (isDigit(bytes[at])) digits++;
    else if (!isJoin(bytes[at])) break;
  }
  return digits;
}

/** A number begins here that is long enough for a card, and begins like one. */
function mayBeCard(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at] as number;
  if (first < 0x32 || first > 0x36 || isDigit(bytes[at - 1]) || bytes[at - 1] === 0x2e)
    return false;
  return digitsFrom(bytes, at) >= 15;
}

/** After a `+`, or the last four digits as in `555-010-1234`. */
function mayBePhone(bytes: Uint8Array, at: number): boolean {
  const plus = bytes[at] === 0x2b ? at : bytes[at - 1] === 0x2b ? at - 1 : -1;
  if (plus !== -1) return digitsFrom(bytes, plus + 1) >= 10;
  return (
    bytes[at - 1] === 0x2d &&
    isDigit(bytes[at - 2]) &&
    isDigit(bytes[at - 4]) &&
    isJoin(bytes[at - 5]) &&
    !isDigit(bytes[at + 4])
  );
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

/** The check digit of a card number. */
function hasLuhn(value: string): boolean {
  const digits = value.replace(/\D/g, "");
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    sum += at % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0 && new Set(digits).size > 2;
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

/** A domain with a dot follows, and a letter comes before. */
function mayBeAddress(bytes: Uint8Array, at: number): boolean {
  const before = bytes[at - 1] ?? 0;
  if (before <= 0x2a || before === 0x2f) return false;
  for (let n = at + 1; n < at + 65; n++) {
    const byte = (bytes[n] ?? 0) | 0x20;
    const isLetter = byte >= 0x61 && byte <= 0x7a;
    if (isLetter || isDigit(bytes[n]) || bytes[n] === 0x2d) continue;
    const next = (bytes[n + 1] ?? 0) | 0x20;
    return bytes[n] === 0x2e && n > at + 1 && next >= 0x30 && next <= 0x7a;
  }
  return false;
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

export const OUR_RULES = [
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
  ...SERVICE_RULES,
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
  expressionRule({
    id: "card",
    what: "number of a payment card",
    near: [],
    hasDigits: true,
    check: mayBeCard,
    expression:
      /(?<![\w.+-])(?:(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6011|65\d{2})([ -]?)\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ -]?)\d{6}\2\d{5})(?![\w-]|\.\d)/,
    isReal: hasLuhn,
  }),
  IBAN,
  expressionRule({
    id: "phone",
    what: "phone number with a country code, or written as in North America",
    near: [" ", "-", ".", "("].map((next) => `+${DIGIT}${next}`),
    hasDigits: true,
    check: mayBePhone,
    expression:
      /(?<![\w.+/-])(?:\+[1-9]\d{0,2}(?:[ .-]?\(\d{1,4}\))?(?:[ .-]\d{2,8}){2,5}|\+[1-9]\d{9,13}|\([2-9]\d{2}\) ?[2-9]\d{2}-\d{4}|[2-9]\d{2}-[2-9]\d{2}-\d{4})(?![\w-]|\.\d)/,
    isReal: (value) => {
      const digits = value.replace(/\D/g, "");
      if (FICTIONAL_PHONE.test(digits)) return false;
      return digits.length >= 10 && digits.length <= 15 && new Set(digits).size > 3;
    },
  }),
  expressionRule({
    id: "email",
    what: "email address",
    near: ["@"],
    check: mayBeAddress,
    expression:
      /(?<![\w.%+/:-])(?<value>[A-Za-z0-9][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24})(?![\w@/-]|\.\w)/,
    isReal: (value) => {
      const domain = value.slice(value.indexOf("@") + 1);
      const isExample = RESERVED_DOMAIN.test(domain) || ANY_DOMAIN.test(domain);
      if (isExample || FILE_ENDING.test(domain)) return false;
      return !NOT_A_PERSON.test(value);
    },
  }),
] as const;
