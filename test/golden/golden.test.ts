/**
 * Files that an earlier build wrote are read, judged, continued and repaired with the same results.
 *
 * `corpus/` has the files (make.mjs made them once), `expected.json` that build's results. Times, ids,
 * hashes and signatures that are in no file of the corpus were made in this run, and only their kind is
 * compared. After an intended change of output: UPDATE_GOLDEN=1.
 */

import assert from "node:assert/strict";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, test } from "vitest";
import { CliUser } from "../cli/cli.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const corpus = join(here, "corpus");
const expectedPath = join(here, "expected.json");
/** Written by us; the corpus is of 0.1.0. */
const { version } = JSON.parse(readFileSync(join(here, "../../package.json"), "utf8"));
const isUpdating = process.env.UPDATE_GOLDEN === "1";
const expected: Record<string, string[]> = JSON.parse(readFileSync(expectedPath, "utf8"));

const DIALECTS = {
  rye: (name: string) => `${name}-1763287200`,
  homeagent: (name: string) => name,
  entire: (name: string) => `2026-11-16-${name}`,
  claude: (name: string) => `app/${name}`,
  sdk: (name: string) => `openai-agents/${name}`,
};
type Name = keyof typeof DIALECTS;

/** One more row, as each dialect's recorder accepts it. */
const ROWS: Record<Name, object> = {
  rye: { type: "user_message", text: "Question 3" },
  homeagent: { turnId: "u3", role: "user", content: "Question 3", ts: 1763287200003 },
  entire: { type: "user", message: { content: "Question 3" } },
  claude: {
    type: "user",
    uuid: "u3",
    timestamp: "2026-11-16T10:00:03.000Z",
    message: { role: "user", content: "Question 3" },
  },
  sdk: {
    type: "item",
    id: "u3",
    at: "2026-11-16T10:00:03.000Z",
    item: { type: "message", role: "user", content: "Question 3" },
  },
};
const OPTIONS: Record<Name, string[]> = {
  rye: ["--directive", "golden"],
  homeagent: ["--agent", "kitchen"],
  entire: ["--model", "claude-opus-4-5"],
  claude: [],
  sdk: [],
};
/** Depends on the process, not on the format. */
const LEFT_OUT = /\.lock$|\.db(-wal|-shm)?$|streams\.mark$|webhook-keys|^\.cache/;

/**
 * Lines contain the directory in which they were recorded: its length must not change their
 * offsets.
 */
function ofOneLength(directory: string): string {
  const path = join(directory, "c".repeat(100 - directory.length));
  mkdirSync(path);
  return path;
}

/** A copy of the corpus that one test may change. */
class Copy {
  readonly path = ofOneLength(realpathSync(tempDirectory()));
  readonly #user: CliUser;

  constructor() {
    cpSync(corpus, this.path, { recursive: true });
    // Git keeps no modes.
    for (const name of readdirSync(this.path, { recursive: true, encoding: "utf8" })) {
      const path = join(this.path, name);
      chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600);
    }
    const heads = join(this.path, "home/.local/state/verbatim/heads.jsonl");
    writeFileSync(heads, readFileSync(heads, "utf8").replaceAll("@CORPUS@", this.path));
    this.#user = new CliUser(join(this.path, "home"));
  }

  /** A command's exit code and the lines of its output, without sentences. */
  async run(args: readonly string[], input = ""): Promise<string[]> {
    const { code, stdout } = await this.#user.run(args, { input });
    return [`exit ${code}`, ...this.#plain(stdout).map(withoutSentences)];
  }

  /** Starts and stops a server on a data directory, which recovers it. */
  async recover(data: string): Promise<void> {
    const running = this.#user.start(["serve", "--port", "0", "--data", data]);
    while (!/http:\/\//.test((await running.line()) ?? assert.fail(running.stderr)));
    running.signal("SIGTERM");
    assert.equal(await running.exitCode(), 0);
  }

  /**
   * The files of a directory that differ from the corpus: how much is unchanged, and what is new.
   */
  changes(directory: string): string[] {
    const names = [this.path, corpus].map((root) => filesIn(join(root, directory)));
    return [...new Set(names.flat())].sort().flatMap((name) => {
      const now = textOf(join(this.path, directory, name));
      const before = textOf(join(corpus, directory, name));
      if (now === before) return [];
      if (now === null) return [`== ${name}: gone`];
      const kept = before !== null && now.startsWith(before) ? before.length : 0;
      return [`== ${name}: kept ${kept} bytes`, ...this.#plain(now.slice(kept))];
    });
  }

  #plain(text: string): string[] {
    return text
      .replaceAll(this.path, "<corpus>")
      .replaceAll(`"version":"${version}"`, '"version":"<ours>"')
      .replace(MADE, kindOf)
      .split("\n");
  }
}

/** The sentences of results may change; `native` is in the files. */
function withoutSentences(line: string): string {
  if (!line.startsWith("{")) return line;
  const SENTENCES = new Set(["message", "detail", "did", "native"]);
  return JSON.stringify(JSON.parse(line), (key, value) => {
    return SENTENCES.has(key) && (typeof value === "string" || key === "native")
      ? undefined
      : value;
  });
}

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "latin1") : null;
}

/** Times, UUIDs, hex, base64 and ids of threads by the second. */
const MADE = new RegExp(
  [
    /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/,
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/,
    /[0-9a-f]{16,}/,
    /[\w-]{43,}(?:==)?/,
    /\b17\d{8}(?:\.\d+)?\b/,
    /\b17\d{11}\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);
const inCorpus = new Set(
  filesIn(corpus).flatMap((file) => {
    return readFileSync(join(corpus, file), "latin1").match(MADE) ?? [];
  }),
);

function kindOf(made: string): string {
  if (inCorpus.has(made)) return made;
  if (/^\d{4}-\d\d-\d\dT|^17\d{8}(\.\d+)?$|^17\d{11}$/.test(made)) return "<time>";
  return /^[0-9a-f]{8}-/.test(made) ? "<uuid>" : "<hash>";
}

function filesIn(directory: string, below = ""): string[] {
  if (!existsSync(directory)) return [];
  const names = readdirSync(join(directory, below)).sort();
  return names.flatMap((name) => {
    const path = join(below, name);
    if (LEFT_OUT.test(path)) return [];
    return statSync(join(directory, path)).isDirectory() ? filesIn(directory, path) : [path];
  });
}

function same(what: string, found: readonly string[]): void {
  if (isUpdating) expected[what] = [...found];
  else assert.deepEqual(found, expected[what], what);
}

afterAll(() => {
  if (isUpdating) writeFileSync(expectedPath, `${JSON.stringify(expected, null, 1)}\n`);
});

for (const dialect of Object.keys(DIALECTS) as Name[]) {
  const id = DIALECTS[dialect];

  test(`${dialect} sessions of an earlier build read and verify as they did`, async () => {
    const copy = new Copy();
    const root = join(copy.path, dialect);
    const where = ["--root", root, "--dialect", dialect];
    same(`${dialect}: verify`, await copy.run(["verify", root, "--json"]));
    same(`${dialect}: doctor`, await copy.run(["doctor", root, "--json"]));
    for (const name of ["plain", "torn", "killed"]) {
      same(`${dialect}: show ${name}`, await copy.run(["show", id(name), "--json", ...where]));
    }
    const resume = ["resume", id("signed"), "--for", "anthropic", "--model", "m", "--json"];
    same(`${dialect}: resume`, await copy.run([...resume, ...where]));
    assert.deepEqual(copy.changes(dialect), [], "reading changes no file");
  });

  test(`${dialect} sessions of an earlier build continue and are repaired as they were`, async () => {
    const copy = new Copy();
    const root = join(copy.path, dialect);
    const record = ["record", "--dialect", dialect, "--root", root, ...OPTIONS[dialect]];
    for (const name of ["plain", "signed", "killed", "torn"]) {
      const isSigned = name === "plain" ? [] : ["--sign"];
      const row = `${JSON.stringify(ROWS[dialect])}\n`;
      const said = await copy.run([...record, "--session", id(name), ...isSigned], row);
      same(`${dialect}: continue ${name}`, said);
    }
    same(`${dialect}: verify continued`, await copy.run(["verify", root, "--json"]));
    same(`${dialect}: continued files`, copy.changes(dialect));
    const other = new Copy();
    const repair = ["doctor", "--fix", join(other.path, dialect), "--json"];
    same(`${dialect}: repair`, await other.run(repair));
    same(`${dialect}: repaired files`, other.changes(dialect));
  });
}

test("a bundle of an earlier build unpacks to the same files", async () => {
  const copy = new Copy();
  const args = ["import", join(copy.path, "signed.vbx"), "--root", join(copy.path, "new")];
  same("bundle: unpack", await copy.run(args));
  same("bundle: files", copy.changes("new"));
});

test("data directories of an earlier build verify, and a killed one recovers, as they did", async () => {
  const copy = new Copy();
  const data = join(copy.path, "data");
  const killed = join(copy.path, "data-killed");
  same("data: verify", await copy.run(["verify", data, "--json"]));
  same("data: check", await copy.run(["serve", "--check", data, "--json"]));
  same("data-killed: verify", await copy.run(["verify", killed, "--json"]));
  await copy.recover(killed);
  same("data-killed: verify recovered", await copy.run(["verify", killed, "--json"]));
  same("data-killed: recovered logs", copy.changes("data-killed/logs"));
});

test("every expected result is compared", () => {
  assert.equal(Object.keys(expected).length, 5 * 14 + 2 + 5);
});
