/**
 * Service rules: keys of single services that the rules of secretlint do not know. Each has a form of
 * its own, or stands next to the service's name.
 */

import { expressionRule } from "./rule.ts";
import { afterName, isDigit } from "./triggers.ts";

const BLANK = 0x20;
const HYPHEN = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const LETTER_A = 0x41;
const END = "(?![A-Za-z0-9])";

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

export const SERVICE_RULES = [
  expressionRule({
    id: "twilio",
    what: "API key of Twilio, or a token next to its name",
    near: ["SK", "wilio", "WILIO"],
    check: (bytes, at) => bytes[at] !== 0x53 || areHex(bytes, at + 2, 12),
    isBreakable: true,
    expression: new RegExp(
      `(?<![A-Za-z0-9])SK[0-9a-f]{32}${END}|(?<=twilio[^\\n]{0,80}[^A-Za-z0-9])[0-9a-f]{32}${END}`,
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
      `(?<![A-Za-z0-9])(?:key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})${END}`,
    ),
  }),
  expressionRule({
    id: "digitalocean",
    what: "token of DigitalOcean",
    near: ["dop_v1_", "doo_v1_", "dor_v1_"],
    isBreakable: true,
    expression: new RegExp(`(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}${END}`),
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
    expression: new RegExp(`(?<![A-Za-z0-9])(?:sbp_[0-9a-f]{40}|sb_secret_[\\w-]{30,50})${END}`),
  }),
] as const;

export const IBAN = expressionRule({
  id: "iban",
  what: "number of a bank account, as IBAN",
  near: [],
  hasDigits: true,
  check: mayBeIban,
  expression:
    /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/,
  isReal: hasIbanCheck,
});
