/**
 * Every rule, both ways: it finds what it is for, and not what looks like it.
 *
 * Examples are made when the test runs, from a fixed seed: no scanner finds a key in this file.
 */

import assert from "node:assert/strict";
import { test } from "vitest";
import { allRules, SecretFinder } from "./find-secrets.ts";
import { PERSONAL_RULES } from "./personal-rules.ts";
import { SECRET_RULES } from "./rules.ts";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const HEX = "0123456789abcdef";
const MIXED = LOWER + LOWER.toUpperCase() + DIGITS;

let state = 42;
/** The same characters in each run. */
function some(length: number, alphabet = MIXED): string {
  let text = "";
  for (let n = 0; n < length; n++) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    text += alphabet[Math.floor((state / 2 ** 31) * alphabet.length)];
  }
  return text;
}

const UPPER = LOWER.toUpperCase();
const AWS_ID = `${UPPER}234567`;
const PEM = (name: string) => `-----${name} RSA PRIVATE ${"KEY"}-----`;
const jwt = () => `ey${"J"}${some(20)}.ey${"J"}${some(30)}.${some(43)}`;

const ACCOUNT = {
  signInAddress: "my.host",
  userAuth: {},
  email: "a@b",
  srpX: some(64),
  muk: {},
  secretKey: "x",
};

/** For each rule: values that are found, in a text around them; and texts without a find. */
const EXAMPLES: Readonly<Record<string, { yes: [string, string?][]; no: string[] }>> = {
  "1password": {
    yes: [[`ops_${Buffer.from(JSON.stringify(ACCOUNT)).toString("base64")}`]],
    no: [`ops_${"ey"}${some(20)}fQ`, "devops_eyes"],
  },
  anthropic: {
    yes: [[`sk-ant-${"api03"}-${some(93)}AA`]],
    no: [`sk-ant-${"api03"}-${some(30)}`],
  },
  aws: {
    yes: [
      [some(40), "AWS_SECRET_ACCESS_KEY=%"],
      [some(40), '"secretAccessKey": "%"'],
    ],
    no: ["AWS_SECRET_ACCESS_KEY=$FROM_ENVIRONMENT", "the secret access key is kept elsewhere"],
  },
  databricks: { yes: [[`dapi${some(32, HEX)}`]], no: [`dapi${some(12, HEX)}`] },
  docker: { yes: [[`dckr_${"pat"}_${some(27)}`]], no: [`dckr_${"pat"}_short`] },
  figma: { yes: [[`fig${"d"}_${some(43)}`]], no: [`fig${"d"}_name`] },
  github: {
    yes: [[`gh${"p"}_${some(36)}`], [`github${"_pat_"}${some(82)}`]],
    no: [`gh${"p"}_${some(12)}`, `enough${"p"}_${some(40)}`],
  },
  gitlab: { yes: [[`glpat${"-"}${some(20)}`]], no: ["glpat-none"] },
  grafana: {
    yes: [[`glsa${"_"}${some(32)}_${some(8, HEX)}`], [`glc${"_"}${some(48)}`]],
    no: ["glsa_none"],
  },
  groq: { yes: [[`gs${"k_"}${some(52)}`]], no: ["tasgsk_none", `gs${"k_"}${some(12)}`] },
  "hashicorp-vault": { yes: [[`hv${"s."}${some(95)}`]], no: ["hvs.length"] },
  huggingface: { yes: [[`h${"f_"}${some(34, LOWER)}`]], no: ["of h_half_and_half", "half_open"] },
  linear: { yes: [[`lin_${"api"}_${some(40)}`]], no: [`lin_${"api"}_key`] },
  notion: {
    yes: [[`nt${"n_"}${some(11, DIGITS)}${some(35)}`]],
    no: [`nt${"n_"}${some(11, DIGITS)}`],
  },
  npm: {
    yes: [[`np${"m_"}${some(36)}`], [some(36), `//registry/:_auth${"Token"}=% and more`]],
    no: ["npm_config_registry", `_auth${"Token"}=\${NPM_TOKEN}`],
  },
  openai: {
    yes: [
      [`sk-proj-${some(74)}T3Blbk${"FJ"}${some(74)}`],
      [`sk-${some(20)}T3Blbk${"FJ"}${some(20)}`],
    ],
    no: [`sk-proj-${some(20)}`, "T3BlbkFJ"],
  },
  sendgrid: { yes: [[`S${"G."}${some(22)}.${some(43)}`]], no: ["MSG.format", "USG.x.y"] },
  shopify: { yes: [[`shp${"at_"}${some(32, HEX)}`]], no: ["shpat_none"] },
  slack: {
    yes: [
      [`xox${"b-"}${some(12, DIGITS)}-${some(12, DIGITS)}-${some(24)}`],
      [`https://hooks.sla${"ck"}.com/services/T${some(8)}/B${some(8)}/${some(24)}`],
    ],
    no: ["xoxo-", "https://hooks.slack.com/services/"],
  },
  vercel: { yes: [[`vc${"p_"}${some(24)}`]], no: [`vc${"p_"}${some(4)}`] },
  "aws-key-id": {
    yes: [[`AKI${"A"}${some(16, AWS_ID)}`], [`ASI${"A"}${some(16, AWS_ID)}`]],
    no: [
      `AKI${"A"}IOSFODNN7EXAMPLE`,
      `AKI${"A"}${some(12, UPPER)}`,
      `XAKI${"A"}${some(16, AWS_ID)}`,
    ],
  },
  "private-key": {
    yes: [
      [`${PEM("BEGIN")}\n${some(64)}\n${some(64)}\n${PEM("END")}`],
      [`${PEM("BEGIN")}\n${some(64)}\n${some(64)}\n`, "%"],
    ],
    no: [`${PEM("BEGIN")}`, "-----BEGIN CERTIFICATE-----", "BEGIN PRIVATE KEY"],
  },
  "llm-key": {
    yes: [
      [`sk-ant-${"oat"}01-${some(90)}`],
      [`sk-or-${"v1"}-${some(64, HEX)}`],
      [`xai${"-"}${some(80)}`],
    ],
    no: ["task-order", "sk-or-v1-", "xai-models"],
  },
  "google-api-key": {
    yes: [[`AIz${"a"}${some(35)}`], [`GOCS${"PX"}-${some(28)}`]],
    no: [`AIz${"a"}${some(12)}`],
  },
  stripe: {
    yes: [[`sk_li${"ve"}_${some(24)}`], [`whs${"ec"}_${some(32)}`]],
    no: [`sk_te${"st"}_${some(24)}`, "task_lively_"],
  },
  pypi: { yes: [[`pypi-${"AgE"}${some(60)}`]], no: ["pypi-server"] },
  jwt: { yes: [[jwt()]], no: [`ey${"J"}${some(40)}`, `ey${"J"}${some(20)}.${some(20)}.x`] },
  twilio: {
    yes: [[`S${"K"}${some(32, HEX)}`], [some(32, HEX), "TWILIO_AUTH_TOKEN: %"]],
    no: [`TASK${some(32, HEX)}`, some(32, HEX), "SKIP"],
  },
  mailgun: {
    yes: [[`ke${"y-"}${some(32, HEX)}`], [`${some(32, HEX)}-${some(8, HEX)}-${some(8, HEX)}`]],
    no: ["key-value", `${some(32, HEX)}-${some(8, HEX)}`, `${some(31, HEX)}-${some(8, HEX)}`],
  },
  digitalocean: { yes: [[`do${"p_v1"}_${some(64, HEX)}`]], no: ["dop_v1_token"] },
  telegram: { yes: [[`${some(9, DIGITS)}:A${"A"}${some(33)}`]], no: ["12345678:AA", "at 12:AAA"] },
  discord: {
    yes: [
      [`M${some(23)}.${some(6)}.${some(38)}`],
      [`M${some(25)}.${some(6)}.${some(27)}`, "DISCORD=%"],
      [`${some(18, DIGITS)}/${some(68)}`, "https://discord.com/api/webhooks/%"],
    ],
    no: [`M${some(23)}.${some(5)}.${some(38)}`, "https://discord.com/api/webhooks/1/x"],
  },
  supabase: {
    yes: [[`sb${"p_"}${some(40, HEX)}`], [`sb_sec${"ret"}_${some(31)}`]],
    no: ["sbp_none", "sb_secret_key"],
  },
  iban: {
    yes: [["DE89 3704 0044 0532 0130 00"], ["GB82WEST12345698765432", "to %,"]],
    no: ["DE89 3704 0044 0532 0130 01", "GB82WEST12345698765431", "AB12 3456"],
  },
  authorization: {
    yes: [
      [some(40), "-H 'Authorization: Bearer %'"],
      [`${some(30)}==`, "Authorization: Basic %"],
    ],
    no: ["Authorization: Bearer $TOKEN", "Bearer tokens are not understood here"],
  },
  "url-password": {
    yes: [
      ["hunter2", "https://ada:%@corp.io/x"],
      ["p%21w!x", "postgres://me:%@[::1]:5432/db"],
      ["s3cret", "redis://:%@cache:6379"],
    ],
    no: [
      "https://corp.io/a:b@c",
      "postgres://user:password@host/db",
      `https://me:\${PASS}@host`,
      "http://localhost:8080/@scope/name",
      "https://me:***@host",
    ],
  },
  "assigned-secret": {
    yes: [
      [some(24), `password = "%"`],
      [some(32), `"client_secret":"%"`],
      [some(40, HEX), "export MY_TOKEN=%"],
      [some(32), "api_key: '%',"],
    ],
    no: [
      "password = getPassword(user1)",
      '"output_tokens":1234567890123456',
      "const token = await readToken(stream);",
      'secret: "changeme"',
      "TOKEN=$GITHUB_TOKEN_123456789",
      'passwords: "a1"',
      '"token": "input_tokens_details_total"',
    ],
  },
  email: {
    yes: [["ada.lovelace@analytical.io"], ["a+b@mail.corp.co.uk", "<%>"], ["x@y.dev", "mailto %."]],
    no: [
      "git@github.com:a/b.git",
      "me@example.com",
      "npm i left-pad@1.3.0",
      "icon@2x.png",
      "https://x.dev/@types/node",
      "@decorator.call",
      "a@b",
      "noreply@corp.io",
      "1+bot@users.noreply.github.com",
      "test@test.com",
      "me@your-company.com",
    ],
  },
  card: {
    yes: [["4539 1488 0343 6467", "card %,"], ["5105105105105100"], ["3782-822463-10005"]],
    no: [
      "4539 1488 0343 6468",
      "4111 1111 1111 1111",
      "0.4539148803436467",
      "1771402338880123",
      "45391488034364670",
      "4444444444444448",
      `${some(4, HEX)}4539148803436467`,
    ],
  },
  phone: {
    yes: [["+49 30 901820-14", "call %."], ["+14155552671"], ["(415) 555-2671"], ["415-555-2671"]],
    no: [
      "+1234",
      "2026-11-17 15:50",
      "x+15550102345",
      "1.555.010.2345",
      "+1111111111111",
      "+1 555 010 2345",
      "415-555-0199",
    ],
  },
  "high-entropy": {
    yes: [[some(40)], [`${some(43)}=`, "key %"]],
    no: [
      some(40, HEX),
      some(31),
      `"signature":"${some(64)}"`,
      `sha512-${some(64)}==`,
      "src/dialects/files/sessionDatabase2/TableOfRows",
      some(200),
      `prefix_${some(40)}`,
    ],
  },
};

const rules = await allRules();

test("each rule has examples of both kinds", () => {
  assert.deepEqual(Object.keys(EXAMPLES).sort(), rules.map(({ id }) => id).sort());
  for (const { yes, no } of Object.values(EXAMPLES)) assert.ok(yes.length > 0 && no.length > 0);
});

test.each(rules.map((rule) => [rule.id, rule] as const))(
  "%s finds its values alone",
  (id, rule) => {
    const finder = new SecretFinder([rule]);
    for (const [value, around = "%"] of EXAMPLES[id]?.yes ?? []) {
      const line = JSON.stringify({ a: "é ", text: around.replace("%", () => value), z: "." });
      const finds = finder.find(line);
      assert.deepEqual(
        finds.map((find) => find.rule),
        [id],
        around,
      );
      const [{ start, end } = { start: 0, end: 0 }] = finds;
      const found = Buffer.from(line).subarray(start, end).toString();
      assert.equal(JSON.parse(`"${found}"`).trim(), value.trim());
    }
    for (const text of EXAMPLES[id]?.no ?? []) {
      assert.deepEqual(finder.find(JSON.stringify({ text })), [], text);
    }
  },
);

test("of several rules, a value is found once, by the most specific", () => {
  const finder = new SecretFinder(rules);
  for (const [id, { yes }] of Object.entries(EXAMPLES)) {
    for (const [value, around = "%"] of yes) {
      const found = finder.find(JSON.stringify({ text: around.replace("%", () => value) }));
      assert.deepEqual([id, found.map(({ rule }) => rule)], [id, [id]]);
    }
  }
});

/** How values get into a session. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  sentence: (text) => `I used ${text} for it.`,
  "JSON in JSON": (text) => JSON.stringify({ value: JSON.stringify([text]) }),
  environment: (text) => `export VALUE=${text}\nexport OTHER=1`,
  source: (text) => `  const value = "${text}";`,
  address: (text) => `curl -s 'https://api.corp.io/v1?key=${text}&page=2'`,
  table: (text) => `| name | \`${text}\` | 7 |`,
  escaped: (text) =>
    text
      .replace(/[a-z]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)
      .replaceAll("\n", "\\n"),
  base64: (text) => `data: ${Buffer.from(`value: ${text}\nother: none\n`).toString("base64")}`,
  "base64 in lines": (text) =>
    Buffer.from(`name: some words to begin with\nvalue: ${text}\nother: none\n`)
      .toString("base64")
      .replace(/.{76}/g, "$&\n"),
};

test("values of every rule are found in every form, but for those named here", () => {
  const finder = new SecretFinder(rules);
  const missed: string[] = [];
  for (const [id, { yes }] of Object.entries(EXAMPLES)) {
    for (const [form, made] of Object.entries(FORMS)) {
      const lines = yes.map(([value, around = "%"]) => made(around.replace("%", () => value)));
      const count = lines.filter(
        (text) => finder.find(JSON.stringify({ text })).length === 0,
      ).length;
      if (count > 0) missed.push(`${id}, ${form}: ${count} of ${lines.length}`);
    }
  }
  // After `=`, a random string without a name that says what it is may be anything.
  assert.deepEqual(missed, ["high-entropy, environment: 1 of 2", "high-entropy, address: 1 of 2"]);
});

test("a value that the end of a line breaks is found whole", () => {
  const breakable = rules.filter(({ isBreakable }) => isBreakable);
  const finder = new SecretFinder(breakable);
  const missed: string[] = [];
  for (const { id } of breakable) {
    const [[value = "", around = "%"] = []] = EXAMPLES[id]?.yes ?? [];
    const at = Math.ceil(value.length * 0.6);
    const broken = `${value.slice(0, at)}\n  ${value.slice(at)}`;
    const line = JSON.stringify({ text: `${around.replace("%", () => broken)}\nand more` });
    const [find] = finder.find(line);
    const text = find && Buffer.from(line).subarray(find.start, find.end).toString();
    if (text !== JSON.stringify(broken).slice(1, -1)) missed.push(`${id}: ${text}`);
    const next = JSON.stringify({ text: `${around.replace("%", () => value)}\nand more` });
    const [alone] = finder.find(next);
    if (next.includes("\\nand", alone?.end) === false) missed.push(`${id}, and the next word`);
  }
  assert.deepEqual(missed, []);
});

test("our expressions repeat nothing without a limit, and nest no repetition", () => {
  for (const { id, expression } of [...SECRET_RULES, ...PERSONAL_RULES]) {
    // Classes and escapes are not repetitions.
    const bare = expression.source.replace(/\\./g, "x").replace(/\[(?:[^\]])*\]/g, "x");
    assert.doesNotMatch(bare, /[*+]|\{\d+,\}/, id);
    for (const [, count = "", group] of bare.matchAll(/\(\?:([^()]*)\)\{\d+,(\d+)\}/g)) {
      assert.ok(Number(group) <= 7, `${id}: ${count}`);
    }
  }
});
