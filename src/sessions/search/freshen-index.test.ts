/** The search index compared with the logs: it finds what reading them all would find. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { runs } from "../../../test/support/seed.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { Store } from "../store/store.ts";
import { freshenIndex, HURRIED, type IndexPace } from "./freshen-index.ts";
import { SearchIndex } from "./search-index.ts";
import { searchPage, understandQuery } from "./search-page.ts";
import { SEARCHABLE_CHARS_MAX } from "./searchable.ts";
import { sumTools, type ToolSums } from "./tool-report.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
/** Small enough that every session takes several pieces. */
const SLOW: IndexPace = { lines: 2, bytes: 300, mergePages: 4 };

interface Said {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A rye project and an index of it. */
class Project {
  readonly root = tempDirectory();
  readonly indexPath = join(tempDirectory(), "search.db");
  readonly store = new Store(nodeHost, { dialect: "rye", root: this.root, onWarning: () => {} });
  #minute = 0;

  path(id: string): string {
    return join(this.root, ".ai/threads", id, "transcript.jsonl");
  }

  append(id: string, ...events: readonly Said[]): void {
    mkdirSync(dirname(this.path(id)), { recursive: true });
    appendFileSync(this.path(id), events.map((event) => this.#line(id, event)).join(""));
    utimesSync(this.path(id), NOW / 1000, NOW / 1000 + ++this.#minute);
  }

  replace(id: string, ...events: readonly Said[]): void {
    rmSync(this.path(id), { force: true });
    this.append(id, ...events);
  }

  async open(path = this.indexPath): Promise<SearchIndex> {
    const index = await SearchIndex.open(path);
    onTestFinished(() => index.close());
    return index;
  }

  async freshen(index: SearchIndex, pace = SLOW, signal?: AbortSignal): Promise<boolean> {
    const onFailure = (id: string, cause: unknown) => assert.fail(`${id}: ${String(cause)}`);
    return freshenIndex(nodeHost, index, [this.store], {
      pace,
      onFailure,
      ...(signal && { signal }),
    });
  }

  /** All hits, page by page, as `session@start`. */
  async find(index: SearchIndex, query: string, limit = 3): Promise<string[]> {
    const found: string[] = [];
    for (let after: number | null = null, isMore = true; isMore; ) {
      const options = { places: [this.store], after, limit, examinedMax: 7 };
      const page = await this.#page(index, query, options);
      found.push(...page.hits.map(({ id, start }) => `${id}@${start}`));
      after = page.next;
      isMore = after !== null;
    }
    return found;
  }

  #page(index: SearchIndex, query: string, options: Parameters<typeof searchPage<Store>>[3]) {
    return searchPage(nodeHost, index, understandQuery(query, NOW), options);
  }

  async tools(index: SearchIndex) {
    return sumTools(index, { places: [this.store], since: null, until: null, toolsMax: 99 });
  }

  /** The rows about edits and prompts, without those that are taken back. */
  facts(index: SearchIndex) {
    const edits = "SELECT id, day, file, edits FROM edits JOIN sessions USING (session)";
    const prompts = "SELECT id, at, start, ms FROM prompts JOIN sessions USING (session)";
    return index.attempt((cache) => [
      cache.all(`${edits} WHERE edits <> 0 ORDER BY 1, 2, 3`),
      cache.all(`${prompts} ORDER BY 1, 3`),
    ]);
  }

  #line(id: string, { type, ...data }: Said): string {
    const ts = new Date(NOW + 60_000 * this.#minute).toISOString();
    return `${JSON.stringify({ ts, type, thread_id: id, directive: "cook", ...data })}\n`;
  }
}

const user = (text: string): Said => ({ type: "user_message", text });
const answer = (text: string): Said => ({ type: "assistant_text", text, model: "opus-9" });

/** Words without case and accents, each Chinese character as its own word. */
function wordsIn(text: string): string[] {
  const plain = text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  return plain.match(/[a-z0-9]+|[日本語]/g) ?? [];
}

const WORDS = ["alpha", "Béta", "beta", "GAMMA", "gam", "日本", "x1", "été"];
const word = fc.constantFrom(...WORDS);
const text = fc.array(fc.tuple(word, fc.constantFrom(" ", ", ", "\n", "-", "/")), { maxLength: 6 });
const event = fc.tuple(fc.boolean(), text).map(([isUser, pieces]): Said => {
  return (isUser ? user : answer)(pieces.flat().join(""));
});
const sessions = fc.array(fc.array(event, { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 4,
});

/** A term of a query, and whether a text matches it. */
interface Wanted {
  readonly query: string;
  fits(words: readonly string[], said: Said): boolean;
}

function hasPhrase(words: readonly string[], phrase: readonly string[], isPrefix = false): boolean {
  return words.some((_, at) =>
    phrase.every((each, n) => {
      const found = words[at + n];
      return isPrefix && n === phrase.length - 1 ? found?.startsWith(each) : found === each;
    }),
  );
}

const term = fc.oneof(
  word.map((each): Wanted => ({ query: each, fits: (words) => hasPhrase(words, wordsIn(each)) })),
  fc.tuple(word, word).map(
    ([a, b]): Wanted => ({
      query: `"${a} ${b}"`,
      fits: (words) => hasPhrase(words, wordsIn(`${a} ${b}`)),
    }),
  ),
  fc.constantFrom("al*", "be*", "gam*").map(
    (query): Wanted => ({
      query,
      fits: (words) => hasPhrase(words, [query.slice(0, -1)], true),
    }),
  ),
  word.map(
    (each): Wanted => ({ query: `-${each}`, fits: (words) => !hasPhrase(words, wordsIn(each)) }),
  ),
  fc.constantFrom("role:user", "-role:assistant").map(
    (query): Wanted => ({
      query,
      fits: (_, { type }) => type === "user_message",
    }),
  ),
  fc.constantFrom("agent:COO", "model:nobody", "since:1h").map(
    (query): Wanted => ({
      query,
      fits: () => query !== "model:nobody",
    }),
  ),
);

test("a search finds what reading all sessions would find, for every page size and indexing speed", async () => {
  const terms = fc.array(term, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      sessions,
      fc.array(terms, { minLength: 4, maxLength: 8 }),
      async (all, asked) => {
        const project = new Project();
        const expected: { place: string; words: string[]; said: Said }[] = [];
        for (const [n, events] of all.entries()) {
          const id = `cook-${n}`;
          project.append(id, ...events);
          let start = 0;
          for (const [at, line] of readFileSync(project.path(id), "utf8")
            .trim()
            .split("\n")
            .entries()) {
            const said = events[at] as Said;
            const words = wordsIn(String(said.text));
            if (said.text !== "") expected.unshift({ place: `${id}@${start}`, words, said });
            start += Buffer.byteLength(line) + 1;
          }
        }
        const index = await project.open();
        await project.freshen(index, all.length % 2 === 0 ? SLOW : HURRIED);
        for (const wanted of asked) {
          const query = wanted.map((each) => each.query).join(" ");
          const naive = expected.filter(({ words, said }) =>
            wanted.every((w) => w.fits(words, said)),
          );
          assert.deepEqual(
            await project.find(index, query),
            naive.map(({ place }) => place),
            query,
          );
        }
        index.close();
      },
    ),
    { numRuns: runs(40) },
  );
});

const MESSAGES = ["user_message", "assistant_text"];
const STEPS = ["step_finish", "tool_call_start", "tool_call_result"];
const step = fc.record({
  type: fc.constantFrom(...MESSAGES, ...STEPS),
  text: text.map((pieces) => pieces.flat().join("")),
  model: fc.constantFrom("opus-9", "haiku-9", undefined),
  message_id: fc.constantFrom("m1", "m2", undefined),
  call_id: fc.constantFrom("c1", "c2", undefined),
  tool: fc.constantFrom("bash", "read"),
  input: fc.constantFrom(
    {},
    ...["a", "b"].map((path) => ({ path, old_string: "x", new_string: "y" })),
  ),
  error: fc.constantFrom("no", undefined),
  duration_ms: fc.option(fc.nat(5_000), { nil: undefined }),
  tokens: fc.record({ input_tokens: fc.nat(99), output_tokens: fc.nat(99) }),
  cost: fc.constantFrom(0.1, 0.2, 0.0000001),
});

/** Of calls that took equally long, any may be named as the slowest. */
function timesOnly(sums: ToolSums) {
  const tools = sums.tools.map((tool) => ({ ...tool, slowest: tool.slowest?.ms }));
  return { ...sums, tools };
}

test("an index that was updated step by step equals one built at once", async () => {
  // Method: rounds of appends, rewriting and removing, with an index update after each.
  const round = fc.record({
    session: fc.nat(2),
    deed: fc.constantFrom("append", "append", "append", "replace", "remove"),
    events: fc.array(step, { minLength: 1, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 8 }), async (rounds) => {
      const project = new Project();
      const grown = await project.open();
      for (const { session, deed, events } of rounds) {
        const id = `cook-${session}`;
        if (deed === "remove") rmSync(dirname(project.path(id)), { recursive: true, force: true });
        else if (deed === "replace") project.replace(id, ...events);
        else project.append(id, ...events);
        await project.freshen(grown);
      }
      const atOnce = await project.open(join(tempDirectory(), "search.db"));
      await project.freshen(atOnce, HURRIED);
      for (const query of ["alpha", "be*", '"alpha gamma"', "role:tool", "tool:bash", "-alpha"]) {
        const [a, b] = [await project.find(grown, query), await project.find(atOnce, query)];
        assert.deepEqual(a.sort(), b.sort(), query);
      }
      assert.deepEqual(
        timesOnly(await project.tools(grown)),
        timesOnly(await project.tools(atOnce)),
      );
      assert.deepEqual(await project.facts(grown), await project.facts(atOnce));
      grown.close();
      atOnce.close();
    }),
    { numRuns: runs(30) },
  );
});

test("only the new part of a session is read, and nothing if nothing is new", async () => {
  const project = new Project();
  project.append("cook-1", user("one"), answer("two"));
  const index = await project.open();
  await project.freshen(index);
  const first = await index.session(project.store, "cook-1");
  project.append("cook-1", user("three"));
  await project.freshen(index);
  const second = await index.session(project.store, "cook-1");
  assert.equal(second?.session, first?.session, "the session was continued");
  assert.equal(second?.indexedTo, readFileSync(project.path("cook-1")).length);
  assert.equal((await project.find(index, "one")).length, 1);
  const before = await index.attempt((cache) => cache.value("SELECT total_changes()"));
  await project.freshen(index);
  assert.equal(await index.attempt((cache) => cache.value("SELECT total_changes()")), before);
});

test("a session that takes several pieces reports the bytes of each", async () => {
  const project = new Project();
  project.append("t1", ...Array.from({ length: 9 }, (_, n) => user(`alpha ${n}`)));
  const size = readFileSync(project.path("t1")).length;
  const told: (readonly [number, number])[] = [];
  await freshenIndex(nodeHost, await project.open(), [project.store], {
    pace: SLOW,
    onFailure: (id) => assert.fail(id),
    onProgress: (_done, _total, bytes) => bytes && told.push(bytes),
  });
  assert.ok(told.length >= 3);
  assert.ok(told.every(([bytes, of], at) => of === size && bytes > (told[at - 1]?.[0] ?? 0)));
});

test("indexing that was interrupted after any piece continues where it stopped", async () => {
  const project = new Project();
  project.append("cook-1", ...Array.from({ length: 9 }, (_, n) => user(`word${n} all`)));
  project.append("cook-2", user("all"), user("all"));
  for (let pieces = 0; pieces < 8; pieces++) {
    const path = join(tempDirectory(), "search.db");
    const stopped = await project.open(path);
    const stop = new AbortController();
    const { add } = stopped;
    let added = 0;
    stopped.add = async (...args) => {
      if (added++ === pieces) stop.abort();
      return add.apply(stopped, args);
    };
    await project.freshen(stopped, SLOW, stop.signal);
    stopped.close();
    const index = await project.open(path);
    assert.equal(await project.freshen(index), true);
    assert.equal((await project.find(index, "all")).length, 11, `stopped after ${pieces}`);
  }
});

test("concurrent indexing stores each entry once", async () => {
  const project = new Project();
  for (let n = 0; n < 12; n++) project.append(`cook-${n}`, ...Array(7).fill(user("all")));
  const indexes = await Promise.all([1, 2, 3].map(() => project.open()));
  await Promise.all(indexes.map((index) => project.freshen(index)));
  for (const index of indexes) {
    await project.freshen(index);
    assert.equal((await project.find(index, "all", 50)).length, 84);
  }
});

test("odd text is harmless, and text past the limit is not found", async () => {
  const project = new Project();
  const long = `${"z".repeat(SEARCHABLE_CHARS_MAX)} lost`;
  const odd = [
    "a\0nul",
    "\ud800 lone",
    "\udfff\ud800 pair",
    '"; DROP TABLE words; --',
    "* OR NEAR(",
  ];
  const deep = `${"[".repeat(50_000)}"bottom"${"]".repeat(50_000)}`;
  project.append("cook-1", ...odd.map(user), user(long));
  appendFileSync(project.path("cook-1"), "no json\n\n[1]\n{}\n");
  const call = '{"ts":"2026-11-15T12:00:00Z","type":"tool_call_start","tool":"t","input":';
  appendFileSync(project.path("cook-1"), `${call}${deep}}\n`);
  const index = await project.open();
  await project.freshen(index);
  for (const query of ["nul", "lone", "pair", "drop table words", "near", "bottom", "tool:t"]) {
    assert.equal((await project.find(index, query)).length, 1, query);
  }
  assert.deepEqual(await project.find(index, "lost"), []);
});

test("an entry that is no longer at its place is left out", async () => {
  const project = new Project();
  project.append("cook-1", user("here"), user("here"));
  project.append("cook-2", user("here"));
  const index = await project.open();
  await project.freshen(index);
  writeFileSync(project.path("cook-1"), `${"x".repeat(50)}\n`);
  rmSync(dirname(project.path("cook-2")), { recursive: true });
  assert.deepEqual(await project.find(index, "here"), []);
});

test("a deleted project is removed when another is searched for the first time", async () => {
  const [gone, next] = [new Project(), new Project()];
  gone.append("cook-1", user("here"));
  next.append("cook-1", user("here"));
  const index = await gone.open();
  await gone.freshen(index);
  rmSync(gone.root, { recursive: true });
  await next.freshen(index);
  assert.deepEqual(await index.places(), [{ dialect: "rye", root: next.root }]);
  assert.equal(await index.attempt((cache) => cache.value("SELECT count(*) FROM entries")), 1);
});

test("entries of several stores are found newest first, whichever store they are in", async () => {
  const projects = [new Project(), new Project()];
  const [one, other] = projects as [Project, Project];
  for (const [n, project] of [one, other, one, other].entries()) {
    project.append(`s${n}`, user("word"));
    utimesSync(project.path(`s${n}`), NOW / 1000, NOW / 1000 + n);
  }
  const index = await one.open();
  const stores = projects.map(({ store }) => store);
  const onFailure = (id: string) => assert.fail(id);
  assert.ok(await freshenIndex(nodeHost, index, stores, { pace: HURRIED, onFailure }));
  const options = { places: stores, after: null, limit: 9, examinedMax: 99 };
  const { hits } = await searchPage(nodeHost, index, understandQuery("word", NOW), options);
  assert.deepEqual(
    hits.map(({ id }) => id),
    ["s3", "s2", "s1", "s0"],
  );
});

test("a page of hits opens the log of each session once", async () => {
  const project = new Project();
  for (const id of ["a-1", "b-1"])
    project.append(id, user("alpha"), answer("alpha"), user("alpha"));
  const index = await project.open();
  await project.freshen(index);
  const opened: string[] = [];
  const files: typeof nodeHost.files = {
    makeDirectory: (path, options) => nodeHost.files.makeDirectory(path, options),
    openDirectory(path, options) {
      opened.push(path);
      return nodeHost.files.openDirectory(path, options);
    },
  };
  const options = { places: [project.store], after: null, limit: 10, examinedMax: 99 };
  const query = understandQuery("alpha", NOW);
  const { hits } = await searchPage({ ...nodeHost, files }, index, query, options);
  assert.equal(hits.length, 6);
  assert.deepEqual(opened.sort(), ["a-1", "b-1"].map((id) => dirname(project.path(id))).sort());
});
