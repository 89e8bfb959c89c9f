/**
 * The pages of `docs/start` and `docs/guides`, followed step by step with the packed package in an
 * empty directory: every `sh` and `js` block runs, in order, in one shell. Of the other pages in
 * `docs`, the blocks marked `run` do.
 *
 * Words after a block's language say how it runs:
 *   run               it does, on a page that is not a guide
 *   background        a server: the next block runs once it is ready
 *   stopped           the page's servers are stopped before
 *   needs-postgres    runs where PostgreSQL is installed
 *   not-run: WHY      is not run, for this reason
 *
 * A `text` block is the output of the block before it; `…` is any text. Ports are replaced by free ones,
 * and /tmp by the directory. The tests' PostgreSQL does not sync, which servers must accept.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, test } from "vitest";
import { root } from "./public-api/doors.ts";
import { type InstalledPackage, installedPackage } from "./support/installed-package.ts";
import { lacksPostgres, newSchema, rowsIn, sharedPostgres } from "./support/postgres.ts";

const execute = promisify(execFile);
const BLOCK = /^```(\w+)(.*)\n([\s\S]*?)^```$/gm;
const PORT = /\b4437\b/g;
/** The reasons why a block is not run. A new one needs a reason to be here. */
const NOT_RUN = [
  "the test has installed the packed package",
  "calls a model",
  "npm run test:runtimes does",
];

const pagesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
const GUIDES = [...pagesIn("docs/start"), ...pagesIn("docs/guides")];

interface Block {
  readonly page: string;
  readonly language: string;
  readonly how: string;
  readonly body: string;
  readonly line: number;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(BLOCK)].map(({ index, 1: language = "", 2: how = "", 3: body = "" }) => {
    return { page, language, how: how.trim(), body, line: text.slice(0, index).split("\n").length };
  });
}

/** On pages with steps and much else, `run` marks the blocks that belong to the steps. */
const MIXED = pagesIn("docs").filter((page) =>
  blocksOf(page).some(({ how }) => how.split(" ")[0] === "run"),
);
const PAGES = [...GUIDES, ...MIXED];

function isRun({ page, language, how }: Block): boolean {
  if (!["sh", "js"].includes(language) || how.startsWith("not-run")) return false;
  if (how.includes("needs-postgres") && lacksPostgres) return false;
  return GUIDES.includes(page) || how.split(" ")[0] === "run";
}

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installedPackage();
});

test("a block that is not run has a known reason", () => {
  const hows = PAGES.flatMap(blocksOf)
    .filter((block) => GUIDES.includes(block.page) || isRun(block))
    .map(({ how }) => how);
  const reasons = hows.flatMap((how) => /^not-run: (.*)$/.exec(how)?.[1] ?? []);
  assert.deepEqual([...new Set(reasons)].sort(), [...NOT_RUN].sort());
  const words = hows.filter((how) => !how.startsWith("not-run: ")).flatMap((how) => how.split(" "));
  assert.deepEqual([...new Set(words)].sort(), [
    "",
    "background",
    "needs-postgres",
    "run",
    "stopped",
  ]);
});

test.each(PAGES)("%s can be followed from its beginning to its end", async (page) => {
  const name = page.replaceAll(/\W/g, "-");
  const where = join(installed.folder, name);
  await mkdir(join(where, "home"), { recursive: true });
  await symlink(join(installed.user, "node_modules"), join(where, "node_modules"));
  const blocks = blocksOf(page);
  const port = String(await freePort());
  const local = (text: string) =>
    text
      .replace(PORT, port)
      .replaceAll("/tmp/", `${where}/`)
      .replace(/^verbatim serve .*--store .*$/m, "$& --durability memory");
  const script = ["set -e", "trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT"];
  for (const block of blocks.filter(isRun)) {
    const { body, line, language, how } = block;
    if (language === "js") await writeFile(join(where, `${line}.mjs`), local(body));
    const command = language === "js" ? `node ${line}.mjs` : local(body).trimEnd();
    const output = `> "${where}/${line}.out" 2> "${where}/${line}.err"`;
    if (how.includes("stopped")) script.push("kill $(jobs -p); wait");
    script.push(`echo ${line} > "${where}/reached"`);
    // One command, so that the shell's job is the server itself.
    if (how.includes("background")) script.push(`exec ${command} ${output} &`, isReady(port));
    else script.push(`{\n${command}\n} ${output}`);
  }
  await writeFile(join(where, "page.sh"), `${script.join("\n")}\n`);

  const bin = join(installed.user, "node_modules", ".bin");
  const env: Record<string, string> = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: join(where, "home"),
    PYTHONPATH: join(root, "python"), // Installed from the clone.
  };
  if (blocks.some((block) => block.how.includes("needs-postgres") && isRun(block))) {
    env.DATABASE_URL = await emptyDatabase();
  }
  const failure = await execute("bash", ["page.sh"], { cwd: where, env }).catch((error) => error);
  const outputOf = (line: number | string, kind: string) => {
    const path = join(where, `${line}.${kind}`);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  if (failure instanceof Error) {
    const reached = readFileSync(join(where, "reached"), "utf8").trim();
    const printed = `${outputOf(reached, "out")}${outputOf(reached, "err")}${failure.message}`;
    assert.fail(`${page}, block at line ${reached}: ${printed}`);
  }
  for (const [at, { language, body, line }] of blocks.entries()) {
    const before = blocks[at - 1];
    if (language !== "text" || before === undefined || !isRun(before)) continue;
    assert.match(outputOf(before.line, "out"), pattern(body), `${page}, line ${line}`);
  }
});

/** Expected output as a pattern: `…` is any text. */
function pattern(expected: string): RegExp {
  const parts = expected.trimEnd().split("…");
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${escaped.join("[\\s\\S]*")}\\s*$`);
}

/** Waits in the shell until a server is ready. */
function isReady(port: string): string {
  const attempt = `curl -sf -o ready http://127.0.0.1:${port}/ready`;
  return `for i in $(seq 600); do ${attempt} && break; sleep 0.1; done; ${attempt}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : assert.fail("no port");
}

async function emptyDatabase(): Promise<string> {
  const url = await sharedPostgres();
  const name = newSchema();
  await rowsIn(url, `CREATE DATABASE ${name}`);
  return url.replace("/postgres?", `/${name}?`);
}
