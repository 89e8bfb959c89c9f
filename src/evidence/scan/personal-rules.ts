/**
 * Personal rules: numbers and addresses that identify a person. Values that documentation uses as
 * examples are not found.
 */

import { expressionRule } from "./rules.ts";
import { DIGIT, isDigit } from "./triggers.ts";

const BLANK = 0x20;

/** In North America: no area has the code 555, and 555-01XX is kept for fiction. */
const FICTIONAL_PHONE = /^1?(?:555\d{7}|\d{3}55501\d{2})$/;

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

const isUpper = (byte: number | undefined) => byte !== undefined && byte >= 0x41 && byte <= 0x5a;

/** These are the first digits after the country and its two digits, or with these. */
function mayBeIban(bytes: Uint8Array, at: number): boolean {
  if (isUpper(bytes[at - 1]) && isUpper(bytes[at - 2]) && !isUpper(bytes[at - 3])) return true;
  let start = bytes[at - 1] === BLANK ? at - 2 : at - 1;
  // A bank's letters may come between.
  while (start > at - 7 && isUpper(bytes[start])) start--;
  if (bytes[start] === BLANK) start--;
  return isDigit(bytes[start]) && isDigit(bytes[start - 1]) && isUpper(bytes[start - 2]);
}

/** ISO 13616: letters count as 10 to 35, and all digits together leave 1 when divided by 97. */
function hasIbanCheck(value: string): boolean {
  const text = value.replaceAll(" ", "");
  if (text.length < 15 || text.length > 34) return false;
  let rest = 0;
  for (const char of `${text.slice(4)}${text.slice(0, 4)}`) {
    const digits = String(Number.parseInt(char, 36));
    rest = Number(`${rest}${digits}`) % 97;
  }
  return rest === 1;
}

export const PERSONAL_RULES = [
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
  expressionRule({
    id: "iban",
    what: "number of a bank account, as IBAN",
    near: [],
    hasDigits: true,
    check: mayBeIban,
    expression:
      /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/,
    isReal: hasIbanCheck,
  }),
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
