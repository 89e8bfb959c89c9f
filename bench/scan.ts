/**
 * `npm run bench -- scan`: processor time of scanning clean text against a bare `JSON.parse` of the
 * same lines, both alternately in one process; and how the time grows with hostile text.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { allRules, SecretFinder } from "../src/evidence/scan/find-secrets.ts";
import { runBench, say } from "./measure/frame.ts";
import { compared, type Result } from "./measure/result.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LF = 0x0a;
const BLOCK_BYTES = 2 ** 18;
const ATMOST = 2.5;
/** Eight times the text may take sixteen times as long: memory is slower than a cache. */
const GROWTH = 8;
const GROWTH_ATMOST = 2;

/** Texts that are full of beginnings, and of what makes careless expressions slow. */
const HOSTILE: readonly (readonly [string, (length: number) => string])[] = [
  ...[
    "gh",
    "eyJ",
    "a@",
    "://a:",
    "token=",
    "-----BEGIN RSA PRIVATE KEY-----",
    "4",
    "a1B",
    "+1 ",
  ].map((piece) => [`only "${piece}"`, (length: number) => filled(piece, length)] as const),
  ["only escapes", (length) => filled("\\u0041", length)],
  ["only backslashes", (length) => filled("\\", length)],
  ["slack tokens without end", (length) => filled("xoxb-a-", length)],
  [
    "a token, then hyphens",
    (length) => `eyJ${filled("a", length / 2)}.eyJ${filled("-", length / 2)}`,
  ],
  ["an address without end", (length) => filled("a.", length / 2) + filled("@a", length / 2)],
];

await runBench("scan", async ({ isQuick }) => {
  const finder = new SecretFinder(await allRules());
  const runs = isQuick ? 5 : 15;
  return [
    against("tool results with sources", finder, cleanOnly(finder, sourceLines()), runs),
    against("rows of short messages", finder, cleanOnly(finder, shortLines()), runs),
    ...HOSTILE.map(([what, make]) => growth(what, finder, make, isQuick ? 3 : 7)),
  ];
});

/** This project's sources and documentation, as an agent's tool prints them. */
function sourceLines(): string[] {
  return [...filesBelow(join(ROOT, "src")), ...filesBelow(join(ROOT, "docs"))].map((path, n) => {
    const content = readFileSync(path, "utf8");
    return row(n, { type: "tool_result", tool_use_id: `toolu_${n}`, content });
  });
}

function shortLines(): string[] {
  const words = readFileSync(join(ROOT, "docs/architecture.md"), "utf8").split(/\s+/);
  return Array.from({ length: 20_000 }, (_, n) => {
    const from = (n * 37) % (words.length - 80);
    return row(n, { type: "text", text: words.slice(from, from + 20 + (n % 60)).join(" ") });
  });
}

function row(n: number, block: object): string {
  const id = `0f8fad5b-d9cb-469f-a165-${String(n).padStart(12, "0")}`;
  const usage = { input_tokens: n, cache_read_input_tokens: 10 * n, output_tokens: n % 900 };
  return JSON.stringify({
    parentUuid: id,
    isSidechain: false,
    userType: "external",
    cwd: "/home/me/app",
    sessionId: id,
    version: "2.1.0",
    gitBranch: "main",
    type: "user",
    uuid: id,
    message: { role: "user", content: [block], usage },
    timestamp: new Date(1_770_000_000_000 + n * 1000).toISOString(),
  });
}

function* filesBelow(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (/\.(?:ts|md)$/.test(entry.name)) yield path;
  }
}

/** Lines in which nothing is found. */
function cleanOnly(finder: SecretFinder, lines: readonly string[]): Buffer {
  const clean = lines.filter((line) => finder.find(line).length === 0);
  say(`${clean.length} of ${lines.length} lines are clean`);
  return Buffer.from(clean.map((line) => `${line}\n`).join(""));
}

function against(what: string, finder: SecretFinder, bytes: Buffer, runs: number): Result {
  const mb = `${(bytes.length / 1e6).toFixed(1)} MB`;
  say(`${what}, ${mb}`);
  const ours: number[] = [];
  const parse: number[] = [];
  for (let run = -3; run < runs; run++) {
    const took = [cpuMs(() => scan(finder, bytes)), cpuMs(() => parseAll(bytes))] as const;
    if (run < 0) continue; // Not compiled yet.
    ours.push(took[0]);
    parse.push(took[1]);
  }
  const measure = `${what}, ${mb}: scan against JSON.parse, processor time`;
  return compared(measure, ours, parse, "ms", { atMost: ATMOST });
}

function scan(finder: SecretFinder, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    const lf = bytes.lastIndexOf(LF, Math.min(bytes.length, at + BLOCK_BYTES) - 1);
    const end = (lf < at ? bytes.indexOf(LF, at) : lf) + 1;
    finder.findInLines(bytes.subarray(at, end));
    at = end;
  }
}

function parseAll(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    const lf = bytes.indexOf(LF, at);
    JSON.parse(bytes.toString("utf8", at, lf));
    at = lf + 1;
  }
}

function filled(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

function growth(
  what: string,
  finder: SecretFinder,
  make: (length: number) => string,
  runs: number,
): Result {
  const [short, long] = [2 ** 16, GROWTH * 2 ** 16].map((length) => Buffer.from(make(length)));
  const values: number[] = [];
  for (let run = -1; run < runs; run++) {
    const [one, many] = [short, long].map((bytes) => cpuMs(() => finder.find(bytes as Buffer)));
    if (run >= 0) values.push((many as number) / GROWTH / Math.max(0.05, one as number));
  }
  const measure = `${what}: time per byte of 512 KiB against 64 KiB`;
  const bound = { atMost: GROWTH_ATMOST };
  return { measure, ours: null, reference: null, values, unit: "x", bound };
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
