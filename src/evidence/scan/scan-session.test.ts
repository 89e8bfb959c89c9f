/** Scanning whole sessions: values in spill files, sidecars and deltas, and only what is new. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { findLogs } from "../../dialects/find.ts";
import { Store } from "../../sessions/store/store.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { JOINED_BYTES_MAX } from "./deltas.ts";
import { allRules, SecretFinder } from "./find-secrets.ts";
import { OVERRUNS_MAX, OwnPatterns, parseOwnPattern } from "./own-patterns.ts";
import type { SessionFind } from "./scan-session.ts";
import { KeptScans, scanTarget } from "./scan-stores.ts";

const finder = new SecretFinder(await allRules());
const TOKEN = ["gh", "p_"].join("") + "aB3dE6gH9jK2".repeat(3);
const OTHER = ["gh", "p_"].join("") + "Zy8Xw5Vu2Ts0".repeat(3);
const MIB = 2 ** 20;

class Project {
  readonly root = tempDirectory();
  readonly keptPath = join(tempDirectory(), "scans.json");
  readonly dialect: string;
  readonly store: Store;

  constructor(dialect: string) {
    this.dialect = dialect;
    this.store = new Store(nodeHost, { dialect, root: this.root, onWarning: () => {} });
  }

  path(id: string): string {
    return join(this.root, ...dialectNamed(this.dialect).naming.logPath(id));
  }

  put(id: string, ...lines: readonly (object | string)[]): void {
    const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
    mkdirSync(dirname(this.path(id)), { recursive: true });
    appendFileSync(this.path(id), texts.map((text) => `${text}\n`).join(""));
  }

  async scan(own: OwnPatterns | null = null) {
    const kept = new KeptScans(this.keptPath, "1");
    const place = { dialect: this.dialect, root: this.root };
    const scans = [];
    for (const log of findLogs(this.root, dialectNamed(this.dialect).naming.layout)) {
      scans.push(await scanTarget(nodeHost, { place, log }, kept, { finder, own }));
    }
    kept.save();
    return {
      finds: scans.flatMap(({ finds }) => finds),
      unscanned: scans.flatMap(({ unscanned }) => unscanned),
      bytesRead: scans.reduce((sum, scan) => sum + scan.bytesRead, 0),
    };
  }

  /** The bytes that a find names, joined. */
  valueOf(id: string, { places, file }: SessionFind): string {
    const path = file === null ? this.path(id) : join(dirname(this.path(id)), file);
    const bytes = readFileSync(path);
    return places.map(({ value }) => bytes.toString("utf8", value.start, value.end)).join("");
  }
}

function delta(text: string) {
  return {
    event_type: "token_delta",
    timestamp: 1,
    thread_id: "t",
    payload: { type: "text", text },
  };
}

const said = (text: string) => ({
  ts: "2026-02-09T04:03:50Z",
  type: "user_message",
  thread_id: "t",
  directive: "d",
  text,
});

test("a value that is split over deltas is found, and all its lines are named", async () => {
  const project = new Project("rye");
  const parts = ["é ", TOKEN.slice(0, 2), TOKEN.slice(2, 9), TOKEN.slice(9), "\n", "."];
  project.put("t", said("hi"), ...parts.map(delta), said("bye"));
  const { finds } = await project.scan();
  assert.equal(finds.length, 1);
  const [find] = finds as [SessionFind];
  assert.deepEqual([find.rule, find.in, find.file], ["github", "delta", null]);
  assert.deepEqual(
    find.places.map(({ entry }) => entry),
    [3, 4, 5],
  );
  assert.equal(project.valueOf("t", find), TOKEN);
});

test("deltas of every provider are joined by block, and not with those of another answer", async () => {
  const half = [TOKEN.slice(0, 20), TOKEN.slice(20)] as const;
  const shapes = [
    (text: string) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    }),
    (partial_json: string) => {
      return {
        type: "content_block_delta",
        index: 1,
        delta: { type: "input_json_delta", partial_json },
      };
    },
    (content: string) => ({ id: "c", choices: [{ index: 0, delta: { content } }] }),
    (text: string) => ({ type: "response.output_text.delta", item_id: "i", delta: text }),
  ];
  for (const shape of shapes) {
    const project = new Project("rye");
    project.put("t", shape(half[0]), { type: "ping" }, shape(half[1]), { type: "message_stop" });
    const { finds } = await project.scan();
    assert.deepEqual(
      finds.map((find) => project.valueOf("t", find)),
      [TOKEN],
    );
    const apart = new Project("rye");
    apart.put("t", shape(half[0]), { type: "message_stop" }, shape(half[1]));
    assert.deepEqual((await apart.scan()).finds, []);
  }
});

test("of a long text of deltas only the end is held, and no value is lost at the limit", async () => {
  for (const before of [JOINED_BYTES_MAX - 10, JOINED_BYTES_MAX - 30, JOINED_BYTES_MAX + 1]) {
    const project = new Project("rye");
    const filler = Array.from({ length: 64 }, () => delta(" ".repeat(Math.floor(before / 64))));
    project.put("t", ...filler, delta(` ${TOKEN.slice(0, 15)}`), delta(`${TOKEN.slice(15)} `));
    const { finds } = await project.scan();
    assert.deepEqual(
      finds.map((find) => project.valueOf("t", find)),
      [TOKEN],
    );
  }
});

test("a spill file is searched, its tool is named, and one that is missing is reported", async () => {
  const project = new Project("entire");
  const session = project.store.session("s");
  const call = { type: "tool_use", id: "c1", name: "Bash", input: { command: "env" } };
  const content = `${"x ".repeat(5 * MIB)}\n${TOKEN}\n`;
  const result = { type: "tool_result", tool_use_id: "c1", content };
  await session.appendNative({
    type: "assistant",
    message: { role: "assistant", content: [call] },
  });
  await session.appendNative({ type: "user", message: { role: "user", content: [result] } });
  await session.close();
  const { finds, unscanned } = await project.scan();
  assert.deepEqual(unscanned, []);
  assert.equal(finds.length, 1);
  const [find] = finds as [SessionFind];
  assert.deepEqual([find.rule, find.in, find.tool], ["github", "tool_result", "Bash"]);
  assert.match(find.file ?? "", /^[\w-]+\.0\.spill$/);
  assert.equal(project.valueOf("s", find), TOKEN);

  writeFileSync(join(dirname(project.path("s")), find.file ?? ""), "gone");
  project.put("s", { type: "user" });
  writeFileSync(project.keptPath, "");
  const changed = await project.scan();
  assert.deepEqual(changed.finds, []);
  assert.match(changed.unscanned[0]?.reason ?? "", /spill file .* is of another length/);
});

test("checkpoints in a sidecar are searched", async () => {
  const project = new Project("claude");
  const id = "-home-me-app/11111111-1111-4111-8111-111111111111";
  project.put(id, { type: "user", message: { role: "user", content: "hi" } });
  const line = JSON.stringify({ payload: JSON.stringify({ cwd: `/home/me/${TOKEN}` }) });
  writeFileSync(sidecarOf(project.path(id)), `${line}\n`);
  const { finds } = await project.scan();
  assert.deepEqual(
    finds.map(({ rule, in: part, places }) => [rule, part, places[0]?.entry]),
    [["github", "checkpoint", 1]],
  );
});

test("the second scan reads only what grew, and reports the finds of the first again", async () => {
  const project = new Project("rye");
  project.put("a", said(`one ${TOKEN}`), said("two"));
  project.put("b", said("nothing"));
  const first = await project.scan();
  assert.equal(first.finds.length, 1);
  const again = await project.scan();
  assert.deepEqual([again.finds, again.bytesRead], [first.finds, 0]);
  const before = statSync(project.path("a")).size;
  project.put("a", said(`three ${OTHER}`));
  const grown = await project.scan();
  assert.equal(grown.bytesRead, statSync(project.path("a")).size - before);
  assert.deepEqual(
    grown.finds.map((find) => [find.places[0]?.entry, project.valueOf("a", find)]),
    [
      [1, TOKEN],
      [3, OTHER],
    ],
  );
  const { mode } = statSync(project.keptPath);
  assert.equal(mode & 0o777, 0o600);
  assert.ok(!readFileSync(project.keptPath, "utf8").includes(TOKEN.slice(0, 8)));
});

test("a value that continues in new deltas is found, and none is reported twice", async () => {
  const project = new Project("rye");
  const half = [delta(OTHER.slice(0, 9)), delta(OTHER.slice(9))] as const;
  project.put("t", said("a"), delta(`${TOKEN.slice(0, 9)}`), delta(`${TOKEN.slice(9)} `), half[0]);
  assert.equal((await project.scan()).finds.length, 1);
  project.put("t", half[1], said("b"));
  const { finds } = await project.scan();
  assert.deepEqual(
    finds.map((find) => [project.valueOf("t", find), find.places[0]?.entry]),
    [
      [TOKEN, 2],
      [OTHER, 4],
    ],
  );
});

test("a session that was rewritten is scanned again; so are all when the state is damaged", async () => {
  const project = new Project("rye");
  project.put("a", said(`one ${TOKEN}`), said("two"));
  await project.scan();
  const text = readFileSync(project.path("a"), "utf8");
  writeFileSync(project.path("a"), `${text.replace(TOKEN, "-".repeat(TOKEN.length))}{}\n`);
  assert.deepEqual((await project.scan()).finds, []);
  for (const damage of [
    "",
    "{",
    '{"rules":"1","sessions":{"x":null}}',
    '{"rules":"0","sessions":{}}',
  ]) {
    writeFileSync(project.keptPath, damage);
    assert.ok((await project.scan()).bytesRead > 0, damage);
  }
});

test("a line at the limit of length is searched, and one that is longer is reported", async () => {
  const project = new Project("rye");
  const around = JSON.stringify({ text: ` ${TOKEN}` }).length;
  const line = (bytes: number) => `{"text":"${"-".repeat(bytes - around)} ${TOKEN}"}`;
  project.put(
    "t",
    line(LOG_LIMITS.lineBytesMax),
    "{}",
    line(LOG_LIMITS.lineBytesMax + 1),
    `"${OTHER}"`,
  );
  const { finds, unscanned } = await project.scan();
  assert.deepEqual(unscanned, [{ entry: 3, reason: "the line is too long" }]);
  assert.deepEqual(
    finds.map(({ places }) => places[0]?.entry),
    [1, 4],
  );
});

test("own patterns see decoded text in any script, and one that takes too long is reported", async () => {
  const project = new Project("rye");
  const many = "a".repeat(60);
  project.put("t", said('née Müller, \u{1f600} "INC-1234"'), said(`x ${many}!`), said(many));
  const parsed = ["name=/müller/i", "ticket=INC-\\d{4}", "slow=(a+)+!?$x"].map(parseOwnPattern);
  const own = new OwnPatterns(parsed as Exclude<(typeof parsed)[number], string>[]);
  const { finds, unscanned } = await project.scan(own);
  assert.deepEqual(
    finds.map((find) => [find.rule, project.valueOf("t", find), find.in]),
    [
      ["own:name", "Müller", "text"],
      ["own:ticket", "INC-1234", "text"],
    ],
  );
  assert.deepEqual(
    unscanned.map(({ entry }) => entry),
    [2, 3],
  );
  assert.match(unscanned[0]?.reason ?? "", /the pattern slow takes too long/);
});

test("a pattern that took too long on several lines is not used any more, which is reported", () => {
  const slow = { name: "slow", source: "(a+)+$|quick", flags: "" };
  const own = new OwnPatterns([slow, { name: "b", source: "b", flags: "" }]);
  const rulesIn = (text: string) => {
    const { finds, missed } = own.find(Buffer.from(text));
    return [finds.map(({ rule }) => rule), missed];
  };
  assert.deepEqual(rulesIn("quick"), [["own:slow"], []]);
  for (let n = 0; n < OVERRUNS_MAX; n++) {
    assert.deepEqual(rulesIn(`${"a".repeat(60)}b`), [["own:b"], ["slow"]]);
  }
  assert.deepEqual(rulesIn("quick b"), [["own:b"], ["slow"]]);
});

test("a pattern without a name, or that is not an expression, is refused", () => {
  for (const text of ["", "x", "=x", "a b=x", "x=", "x=(", `${"n".repeat(41)}=x`, "x=/(/i"]) {
    assert.equal(typeof parseOwnPattern(text), "string", text);
  }
});
