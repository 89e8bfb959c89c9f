/** `verbatim keys head`: pins are shown, moved between machines, accepted and forgotten. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { userPaths } from "../../src/core/base/node-paths.ts";
import { pinLine } from "../../src/trust/heads/head-file.ts";
import type { Signer } from "../../src/trust/keys/keys.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import type { Pin } from "../../src/trust/proof/pin.ts";
import { pinOf } from "../support/pins.ts";
import { signedThread } from "../support/signed-thread.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { CliUser, jsonLines } from "./cli.ts";
import { put, putThread } from "./stores.ts";

class HeadUser extends CliUser {
  readonly path = join(this.home, ".local/state/verbatim/heads.jsonl");
  /** The place of sessions in the current directory. */
  readonly place = `rye:${realpathSync(this.cwd)}`;

  /** A pin of a session in the current directory. */
  pin(id: string, seq: number, options = {}, why: Pin["why"] = "signed"): Pin {
    return pinOf(id, seq, { place: this.place, ...options }, why);
  }

  putPins(...pins: readonly Pin[]): void {
    put(this.path, pins.map(pinLine).join(""));
    chmodSync(dirname(this.path), 0o700);
  }

  get lines(): Record<string, unknown>[] {
    return jsonLines(readFileSync(this.path, "utf8"));
  }

  signer(): Promise<Signer> {
    const xdg = { XDG_CONFIG_HOME: join(this.home, ".config") };
    return loadSigner(nodeHost, userPaths(xdg));
  }
}

test("show lists the pins, and --json prints every field", async () => {
  const user = new HeadUser();
  const accepted = user.pin("hello-1", 2, {}, "accepted");
  const elsewhere = pinOf("other-1", 7, { log: 2, place: "homeagent:/home/ada/.homeagent" });
  user.putPins(user.pin("hello-1", 3), elsewhere, accepted, user.pin("gone", 1, { log: 3 }));
  appendFileSync(user.path, pinLine(user.pin("gone", 1, { log: 3 }, "forgotten")));
  const { code, stdout, stderr } = await user.run(["keys", "head", "show"]);

  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(
    stdout.split("\n").map((line) => line.split(/ {2,}/)),
    [
      ["ID", "PLACE", "CHECKPOINT", "BYTES", "KIND", "SIGNED", "WHY"],
      ["other-1", elsewhere.place, "7", "7000", "turn", elsewhere.ts, "signed"],
      ["hello-1", user.place, "2", "2000", "turn", accepted.ts, "accepted"],
      [""],
    ],
  );
  const json = await user.run(["keys", "head", "show", "--json", "hello"]);
  const { byteOffset, ...fields } = accepted;
  const { log, seq, line } = user.pin("hello-1", 3);
  assert.deepEqual(jsonLines(json.stdout), [
    { ...fields, byte_offset: byteOffset, lost: { log, seq, line } },
  ]);
});

test("show narrows by dialect and root, and says when nothing is pinned", async () => {
  const user = new HeadUser();
  const { code, stdout, stderr } = await user.run(["keys", "head", "show"]);
  assert.deepEqual([code, stdout, stderr], [0, "", "no head is pinned\n"]);

  user.putPins(user.pin("a", 1), pinOf("b", 1, { place: "homeagent:/gone" }));
  const shown = async (...args: string[]) => {
    const ran = await user.run(["keys", "head", "show", "--json", ...args]);
    assert.equal(ran.code, 0, ran.stderr);
    return jsonLines(ran.stdout).map(({ id }) => id);
  };
  assert.deepEqual(await shown("--dialect", "homeagent"), ["b"]);
  assert.deepEqual(await shown("--root", "."), ["a"]);
  assert.deepEqual(await shown("--root", "/gone"), ["b"]);
  assert.deepEqual(await shown("--root", "/gone", "--dialect", "rye"), []);
  const unknown = await user.run(["keys", "head", "show", "c"]);
  assert.equal(unknown.code, 7);
  expect(unknown.stderr).toContain("PIN_NOT_FOUND");
});

test("a pin is found by its id, an id prefix or the session's path, in the current directory first", async () => {
  const user = new HeadUser();
  const far = { place: "rye:/elsewhere" };
  user.putPins(user.pin("test/hello-1", 1), pinOf("test/hello-1", 2, far), pinOf("solo-1", 3, far));
  const path = putThread(user.cwd, "test/hello-1");
  const link = join(tempDirectory(), "link");
  symlinkSync(user.cwd, link);
  const seqsOf = async (name: string, ...args: string[]) => {
    const { stdout, stderr } = await user.run(["keys", "head", "show", "--json", name, ...args]);
    return jsonLines(stdout).map(({ seq }) => seq) ?? stderr;
  };
  for (const name of ["test/hello-1", "hello-1", "test/he", "hell", path]) {
    assert.deepEqual(await seqsOf(name), [1], name);
  }
  assert.deepEqual(await seqsOf("solo"), [3], "nothing of that name is here");
  assert.deepEqual(await seqsOf("hello-1", "--root", link), [1], "by its real path");
  rmSync(join(user.cwd, ".ai"), { recursive: true });
  assert.deepEqual(await seqsOf("hello-1"), [1, 2], "there is no store here any more");
});

test("forget unpins one session, even a deleted one, and refuses an ambiguous name", async () => {
  const user = new HeadUser();
  user.putPins(user.pin("hello-1", 4), user.pin("hello-2", 5, { log: 2 }));
  const several = await user.run(["keys", "head", "forget", "hello"]);
  assert.equal(several.code, 7);
  expect(several.stderr).toContain("may be one of 2 pins");
  expect(several.stderr).toContain(`  hello-2  (${user.place})`);
  const { code, stdout } = await user.run(["keys", "head", "forget", "hello-1"]);
  assert.deepEqual([code, stdout], [0, `forgot hello-1 (${user.place})\n`]);
  assert.deepEqual(
    user.lines.map(({ id, why }) => [id, why]),
    [
      ["hello-1", "signed"],
      ["hello-2", "signed"],
      ["hello-1", "forgotten"],
    ],
  );
  assert.equal((await user.run(["keys", "head", "forget", "hello-1"])).code, 7);
});

test("pins exported on one machine can be imported on another, which takes only new ones", async () => {
  const [one, other] = [new HeadUser(), new HeadUser()];
  const place = { place: "rye:/shared" };
  one.putPins(
    pinOf("a", 5, place),
    pinOf("b", 1, { ...place, log: 2 }),
    one.pin("c", 1, { log: 3 }),
  );
  other.putPins(pinOf("a", 3, place), pinOf("b", 1, { ...place, log: 9 }));
  const file = join(one.cwd, "pins.jsonl");
  const exported = await one.run(["keys", "head", "export", file]);
  assert.deepEqual([exported.code, exported.stdout, exported.stderr], [0, "", ""]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const printed = await one.run(["keys", "head", "export"]);
  assert.equal(printed.stdout, readFileSync(file, "utf8"));
  assert.deepEqual(printed.stdout, (await one.run(["keys", "head", "export", "-"])).stdout);

  const imported = await other.run(["keys", "head", "import", file]);
  assert.equal(imported.code, 1);
  assert.equal(imported.stdout, "added 2, known 0, conflicts 1\n");
  assert.equal(
    imported.stderr,
    "conflict: b (rye:/shared): there checkpoint 1 of log 00000000, " +
      "here checkpoint 1 of log 00000000: they are of two logs; ours stays\n",
  );
  assert.deepEqual(
    jsonLines((await other.run(["keys", "head", "show", "--json"])).stdout).map(({ id, seq }) => [
      id,
      seq,
    ]),
    [
      ["b", 1],
      ["a", 5],
      ["c", 1],
    ],
  );
  const back = await one.run(["keys", "head", "import", file]);
  assert.deepEqual([back.code, back.stdout], [0, "added 0, known 3, conflicts 0\n"]);
});

test("import refuses a whole file if any line is not a pin, and export never overwrites the pin file", async () => {
  const user = new HeadUser();
  user.putPins(user.pin("a", 1));
  const file = put(join(user.cwd, "pins"), `${pinLine(user.pin("b", 1, { log: 2 }))}{"v":1}\n`);
  const refused = await user.run(["keys", "head", "import", file]);
  assert.equal(refused.code, 7);
  expect(refused.stderr).toMatch(/line 2 of .* is no head pin: without place.*BAD_LINE/);
  assert.equal(user.lines.length, 1);
  assert.equal((await user.run(["keys", "head", "import", join(user.cwd, "none")])).code, 7);
  assert.equal((await user.run(["keys", "head", "import", ""])).code, 2);
  assert.equal((await user.run(["keys", "head", "import"])).code, 2);
  const over = await user.run(["keys", "head", "export", user.path]);
  assert.equal(over.code, 2);
  assert.equal(user.lines.length, 1);
});

test("every command that reads pins reports lines that are not pins", async () => {
  const user = new HeadUser();
  user.putPins(user.pin("a", 1));
  appendFileSync(user.path, "\u001b[2Jgarbage\n");
  const file = join(user.cwd, "pins");
  for (const args of [["show"], ["export", file], ["import", file], ["forget", "a"]]) {
    const { code, stderr } = await user.run(["keys", "head", ...args]);
    assert.equal(code, 0, stderr);
    expect(stderr).toMatch(
      /^warning: 1 line of .* cannot be read, and a pin may be missing: line 2/,
    );
    assert.ok(!stderr.includes("garbage"));
  }
});

test("pin verifies a session first, and stores its head", async () => {
  const user = new HeadUser();
  const { bytes, ends } = await signedThread(await user.signer(), "hello-1");
  const path = putThread(user.cwd, "hello-1", [bytes.toString().trimEnd()]);
  assert.deepEqual(readFileSync(path), bytes);
  const { code, stdout, stderr } = await user.run(["keys", "head", "pin", "hello"]);

  assert.deepEqual([code, stdout, stderr], [0, "pinned hello-1 at checkpoint 2\n", ""]);
  const [pinned] = user.lines;
  assert.deepEqual(
    [pinned?.place, pinned?.id, pinned?.seq, pinned?.kind, pinned?.why],
    [user.place, "hello-1", 2, "turn", "verified"],
  );
  assert.equal(pinned?.kid, (await user.signer()).kid);
  assert.equal(pinned?.byte_offset, bytes.lastIndexOf("\n", bytes.length - 2) + 1);
  assert.equal(ends.at(-1), bytes.length);
});

test("pin refuses a session that is not verified, with the verdict's exit code", async () => {
  const user = new HeadUser();
  const { bytes } = await signedThread(await user.signer(), "hello-1");
  const stranger = await signedThread(await new HeadUser().signer(), "strange-1");
  putThread(user.cwd, "hello-1", [bytes.toString().trimEnd().replace("said 1", "SAID 1")]);
  putThread(user.cwd, "strange-1", [stranger.bytes.toString().trimEnd()]);
  putThread(user.cwd, "unsigned-1");
  for (const [name, verdict] of [
    ["hello-1", 1],
    ["strange-1", 4],
    ["unsigned-1", 3],
  ] as const) {
    const { code, stderr } = await user.run(["keys", "head", "pin", name]);
    assert.equal(code, verdict, stderr);
    expect(stderr).toContain("NOT_VERIFIED");
  }
  const none = await user.run(["keys", "head", "pin", "none"]);
  assert.equal(none.code, 7);
});

test("a restored backup is not pinned; accept shows what is lost, asks, and pins the older head", async () => {
  const user = new HeadUser();
  const { bytes, ends } = await signedThread(await user.signer(), "hello-1", { turns: 5 });
  putThread(user.cwd, "hello-1", [bytes.toString().trimEnd()]);
  assert.equal((await user.run(["keys", "head", "pin", "hello-1"])).code, 0);
  const nothing = await user.run(["keys", "head", "accept", "hello-1", "--yes"]);
  assert.deepEqual([nothing.code, nothing.stdout], [0, ""]);
  expect(nothing.stderr).toContain("nothing to accept");
  putThread(user.cwd, "hello-1", [bytes.subarray(0, ends[1]).toString().trimEnd()]);

  const pin = await user.run(["keys", "head", "pin", "hello-1"]);
  assert.equal(pin.code, 6);
  const lost = `checkpoints 2 to 4 of hello-1 are lost: it was seen up to byte ${user.lines[0]?.byte_offset}`;
  expect(pin.stderr).toContain(lost);
  const asked = await user.run(["keys", "head", "accept", "hello-1"], { input: "yes\n" });
  assert.equal(asked.code, 2, "there is no terminal");
  expect(asked.stderr).toContain(lost);
  const no = await user.atTerminal(["keys", "head", "accept", "hello-1"], { typed: "n\n" });
  assert.equal(no.code, 1);
  expect(no.shown).toContain("checkpoint 1 of 2026-02-09T04:03:50.365Z? [y/N]");
  assert.equal(user.lines.length, 1);

  const yes = await user.atTerminal(["keys", "head", "accept", "hello-1"], { typed: "y\n" });
  assert.equal(yes.code, 0, yes.shown);
  expect(yes.shown).toContain("accepted hello-1 at checkpoint 1");
  assert.deepEqual(
    user.lines.map(({ seq, why }) => [seq, why]),
    [
      [4, "verified"],
      [1, "accepted"],
    ],
  );
  assert.equal((await user.run(["keys", "head", "pin", "hello-1"])).code, 0);
});

test("a forked log and a replaced log get different findings, and both can be accepted", async () => {
  const user = new HeadUser();
  const signer = await user.signer();
  const { bytes } = await signedThread(signer, "hello-1");
  putThread(user.cwd, "hello-1", [bytes.toString().trimEnd()]);
  assert.equal((await user.run(["keys", "head", "pin", "hello-1"])).code, 0);
  for (const [options, told] of [
    [{ turns: 4, word: "differently said" }, /another checkpoint 2 than it had/],
    [{ turns: 4, salt: 2 }, /another log stands where hello-1 stood/],
  ] as const) {
    const other = await signedThread(signer, "hello-1", options);
    putThread(user.cwd, "hello-1", [other.bytes.toString().trimEnd()]);
    const pin = await user.run(["keys", "head", "pin", "hello-1"]);
    assert.equal(pin.code, 6, pin.stderr);
    expect(pin.stderr).toMatch(told);
    const accept = await user.run(["keys", "head", "accept", "hello-1", "--yes"]);
    assert.deepEqual([accept.code, accept.stdout], [0, "accepted hello-1 at checkpoint 3\n"]);
    putThread(user.cwd, "hello-1", [bytes.toString().trimEnd()]);
    assert.equal((await user.run(["keys", "head", "accept", "hello-1", "--yes"])).code, 0);
  }
});
