/**
 * `verbatim record`, interrupted: by signals, by kill -9, by a full disk, by another writer.
 *
 * Method: the real command is fed line by line, and every acknowledgment it prints is compared with
 * the log it leaves.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { diskTest, SmallDisk } from "../crash/small-disk.ts";
import { asLines, CliUser, jsonLines, type Running } from "./cli.ts";

const RYE = ["record", "--dialect", "rye", "--directive", "job"];

function statusOf(log: string): unknown {
  return JSON.parse(readFileSync(join(dirname(log), "thread.json"), "utf8")).status;
}

/** Resolves to the log's path when the session is open. */
async function begin(running: Running): Promise<string> {
  const { path } = await running.json();
  return String(path);
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s stops reading, finishes what was read, and leaves the thread paused",
  async (signal) => {
    const running = new CliUser().start([...RYE, "--ack"]);
    const path = await begin(running);
    for (let n = 0; n < 500; n++)
      running.say(JSON.stringify({ type: "user_message", text: `${n}` }));
    // Half a line: it cannot be known to be whole.
    running.write('{"type":"user_message","te');
    let acknowledged = Number((await running.json()).offset);
    running.signal(signal);
    for (let line = await running.line(); line !== null; line = await running.line()) {
      acknowledged = JSON.parse(line).offset;
    }

    assert.equal(await running.exitCode(), 0, running.stderr);
    const log = readFileSync(path, "utf8");
    assert.equal(acknowledged, Buffer.byteLength(log));
    const texts = jsonLines(log).map(({ text }) => text);
    assert.deepEqual(
      texts.slice(1),
      texts.slice(1).map((_, n) => String(n)),
    );
    assert.equal(statusOf(path), "paused");
    assert.ok(existsSync(join(dirname(path), "transcript.md")));
  },
);

test("an entry is acknowledged at once, without waiting for the next one", async () => {
  const user = new CliUser();
  const running = user.start([...RYE, "--ack"]);
  const path = await begin(running);
  for (let n = 0; n < 3; n++) {
    running.say(JSON.stringify({ type: "user_message", text: String(n) }));
    const { offset } = await running.json();
    assert.equal(offset, readFileSync(path).length);
  }
  running.say(JSON.stringify({ type: "thread_complete", cost: {} }));
  running.endInput();

  assert.equal(await running.exitCode(), 0);
  assert.equal(statusOf(path), "completed");
});

test.each(["disk", "os"])(
  "after kill -9 every acknowledged entry is in the log (--durability %s)",
  async (durability) => {
    const user = new CliUser();
    const running = user.start([...RYE, "--ack", "--durability", durability]);
    const path = await begin(running);
    let said = 0;
    const feed = setInterval(() => {
      for (let n = 0; n < 200; n++) {
        running.say(JSON.stringify({ type: "user_message", text: "x".repeat(n * 7), n: said++ }));
      }
    }, 1);
    let acknowledged = 0;
    let end = 0;
    while (acknowledged < 1000) {
      end = Number((await running.json()).offset);
      acknowledged++;
    }
    clearInterval(feed);
    await running.kill();
    for (let line = await running.line(); line !== null; line = await running.line()) {
      end = JSON.parse(line).offset;
      acknowledged++;
    }

    const log = readFileSync(path);
    assert.ok(log.length >= end, "an acknowledged byte is missing");
    const entries = jsonLines(log.subarray(0, end).toString("utf8")).slice(1);
    assert.deepEqual(
      entries.map(({ n }) => n),
      Array.from({ length: acknowledged }, (_, n) => n),
    );
    // The next recording repairs what the kill left, and continues after it.
    const { code, stderr } = await user.run([...RYE, "--session", path.split("/").at(-2) ?? ""], {
      input: asLines({ type: "user_message", text: "later" }),
    });
    assert.equal(code, 0, stderr);
    assert.ok(readFileSync(path).subarray(0, end).equals(log.subarray(0, end)));
    assert.equal(jsonLines(readFileSync(path, "utf8")).at(-1)?.text, "later");
    assert.equal(statusOf(path), "paused");
  },
);

test("a thread that another process records is refused with its lock holder (S0-6)", async () => {
  const user = new CliUser();
  const running = user.start(RYE);
  const path = await begin(running);
  const id = path.split("/").at(-2) ?? "";
  const { code, stdout, stderr } = await user.run([...RYE, "--session", id]);

  assert.deepEqual([code, stdout], [7, ""]);
  expect(stderr).toContain("LOG_LOCKED");
  expect(stderr).toContain(`pid ${running.pid}`);
});

diskTest(
  "on a full disk the failing line is reported, the exit code is 7, and acknowledged lines are kept",
  async () => {
    const disk = SmallDisk.mount();
    const entries = Array.from({ length: 200 }, (_, n) => ({
      type: "user_message",
      n,
      text: "x".repeat(9000),
    }));
    const { code, stdout, stderr } = await new CliUser().run(
      [...RYE, "--root", disk.path, "--ack", "--no-markdown"],
      { input: asLines(...entries) },
    );

    assert.equal(code, 7);
    const [first, ...acks] = jsonLines(stdout);
    const end = Number(acks.at(-1)?.offset ?? 0);
    const log = readFileSync(String(first?.path));
    const recorded = jsonLines(log.subarray(0, end).toString("utf8")).slice(1);
    assert.deepEqual(
      recorded.map(({ n }) => n),
      acks.map((_, n) => n),
    );
    assert.equal(log.at(-1), 0x0a, "part of a refused line was left");
    expect(stderr).toContain(`line ${acks.length + 1}: `);
    expect(stderr).not.toMatch(/\n\s+at /);
  },
);

test("closing our stdout does not end the recording", async () => {
  const user = new CliUser();
  const entries = Array.from({ length: 5000 }, (_, n) => ({
    type: "user_message",
    text: String(n),
  }));
  const { code, stdout, stderr } = await user.run([...RYE, "--ack", "--durability", "os"], {
    input: asLines(...entries, { type: "thread_complete", cost: {} }),
    stdoutBytesMax: 1,
  });

  assert.deepEqual([code, stderr], [0, ""]);
  const path = String(jsonLines(stdout.split("\n")[0] ?? "")[0]?.path);
  assert.equal(jsonLines(readFileSync(path, "utf8")).length, entries.length + 2);
  assert.equal(statusOf(path), "completed");
});
