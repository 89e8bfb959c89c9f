/** Copies of sessions with a past: rotated, recovered, vouched, forked, linked, and of streams. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { signHead, vouchForSession } from "../../src/evidence/verify/own-checkpoints.ts";
import { withSignedStream } from "../../src/evidence/verify/verify-directory.ts";
import { linkSession } from "../../src/resume/fork/fork.ts";
import { DisplayedLog, unsignedIn } from "../../src/trust/judge/displayed-log.ts";
import { loadSigner } from "../../src/trust/keys/keys.ts";
import { hasSidecar } from "../../src/trust/proof/envelopes.ts";
import { disclose, judgeBytes, keysOf, SECRET, SHORT, verdictOf } from "../support/disclosing.ts";
import { refusal } from "../support/refusal.ts";
import { JSON_STREAM, message, RAW_STREAM, SignedStreams } from "../support/signed-streams.ts";
import { ALL_SHAPES, SigningUser, said, turnOf, type Written } from "../support/signing-user.ts";

const SHAPES = Object.entries(ALL_SHAPES);
const TURNS = [...turnOf("good morning"), ...turnOf(SECRET), said(SHORT)];

/** A line that another program appended, unsigned. */
function appendUnsigned({ path }: Written): void {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const last = lines.filter((line) => !line.includes('"sig2"')).at(-1);
  appendFileSync(path, `${last}\n`);
}

test.each(SHAPES)(
  "a reader of a rotated session's copy needs only the old key (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, TURNS);
    const { publicKey } = await loadSigner(nodeHost, user.places);
    await user.rotate();
    await user.write(shape, turnOf("good night"), { root: written.target.root });
    const { bytes } = await disclose(user, written.target);
    const reader = new SigningUser();
    expect(verdictOf(judgeBytes(keysOf(reader), bytes))).toBe("untrusted KEY_UNKNOWN");
    await reader.trusts(publicKey);
    const judged = judgeBytes(keysOf(reader), bytes);
    // The statement is by the new key, which the log's rotation names.
    expect([verdictOf(judged), judged.redactor?.refusal]).toEqual(["verified", null]);
    expect(judged.judge.keyChanges.map(({ isNamed }) => isNamed)).toEqual([true]);
  },
);

test.each(SHAPES)(
  "found lines leave a copy incomplete until a person vouches (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, TURNS);
    appendUnsigned(written);
    const { target } = written;
    const tail = await disclose(user, target);
    expect([verdictOf(judgeBytes(keysOf(user), tail.bytes)), tail.leftOut.lines]).toEqual([
      "verified",
      1,
    ]);

    await user.write(shape, turnOf("good night"), { root: target.root });
    const { bytes } = await disclose(user, target);
    const judged = judgeBytes(keysOf(user), bytes);
    expect(verdictOf(judged)).toBe("incomplete FOUND_UNSIGNED");

    const shown = new DisplayedLog(nodeHost, target, unsignedIn(await user.verify(written)));
    for await (const _ of shown.lines());
    await vouchForSession(nodeHost, target, shown, () => {});
    const vouched = await disclose(user, target);
    expect(verdictOf(judgeBytes(keysOf(user), vouched.bytes))).toBe("verified");
  },
);

test.each(SHAPES)(
  "lines from before the first signature leave a copy incomplete (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, TURNS, { sign: false });
    await user.write(shape, turnOf("good night"), { root: written.target.root });
    const { bytes, header } = await disclose(user, written.target);
    const judged = judgeBytes(keysOf(user), bytes);
    expect(verdictOf(judged)).toBe("incomplete FOUND_UNSIGNED");
    expect(judged.judge.found[0]?.[0]).toBe(0);
    expect(header.genesis).toBe(hasSidecar(written.target.dialect) ? "stated" : "opened");
  },
);

test.each(SHAPES)(
  "a session with its first checkpoint only is refused, until one is signed (%s)",
  async (_n, shape) => {
    const user = new SigningUser();
    const written = await user.write(shape, [said(SECRET)], { sign: false });
    const store = await user.store({ root: written.target.root, ...shape });
    const session = store.session(written.target.id);
    await session.addCheckpoints(async () => [{ vouches: null }]);
    await session.release();
    await store.close();
    const { details } = await refusal(disclose(user, written.target), "CANNOT_DISCLOSE");
    expect(details.reason).toContain("no checkpoint after its first");
    assert.ok(await signHead(nodeHost, written.target, () => {}));
    const { bytes } = await disclose(user, written.target);
    expect(verdictOf(judgeBytes(keysOf(user), bytes))).toBe("verified");
    expect((await user.verify(written)).verdict).toBe("verified");
  },
);

test("a copy names the sessions that continue its session", async () => {
  const user = new SigningUser();
  const shape = { dialect: "rye" } as const;
  const written = await user.write(shape, TURNS);
  const store = await user.store({ root: written.target.root, ...shape });
  const to = { id: "next-1", log: "0".repeat(32) };
  expect(await linkSession(store, written.target.id, to, null)).toBe(null);
  await store.close();
  const { bytes } = await disclose(user, written.target);
  const judged = judgeBytes(keysOf(user), bytes);
  expect([verdictOf(judged), judged.judge.links.map(({ id }) => id)]).toEqual([
    "verified",
    ["next-1"],
  ]);
  const finder = (line: Uint8Array) =>
    Buffer.from(line).includes("next-1") ? [{ rule: "x", from: 0, to: 1 }] : [];
  await refusal(disclose(user, written.target, { finder }), "CANNOT_WITHHOLD");
});

const RAW = Buffer.from([...Buffer.alloc(120_000, "abc"), 0x0a, 0xff, 0x00, 0x22]);

test.each([
  ["JSON", JSON_STREAM, [message({ text: SECRET }), message({ text: "hello" })]],
  [
    "raw",
    RAW_STREAM,
    [
      { body: RAW, close: false },
      { body: Buffer.from(SHORT), close: false },
    ],
  ],
] as const)(
  "copies of %s streams are verified, stretch by stretch",
  async (kind, options, appends) => {
    const streams = new SignedStreams();
    for (const each of appends) {
      const store = await streams.open(); // Closing it signs: one stretch each.
      if (each === appends[0]) await store.create("/kitchen", options);
      await store.append("/kitchen", each);
      await store.close();
    }
    await withSignedStream(nodeHost, streams.directory, "/kitchen", async (log) => {
      const { bytes, lines, full } = await disclose(streams.user, log);
      const judged = judgeBytes(keysOf(streams.user), bytes);
      expect([verdictOf(judged), lines, full]).toEqual(["verified", 2, 1]);
      assert.ok(!bytes.includes("code 90417") && !bytes.includes("is 48213"));
      if (kind === "raw") {
        const shown = judged.shown
          .filter(({ is }) => is === "bytes")
          .map((each) => each.bytes ?? RAW);
        assert.deepEqual(Buffer.concat(shown), RAW);
        expect(judged.counts).toEqual({ lines: 2, full: 1, withheld: 1, strings: 0 });
      }
    });
  },
);

test.each(["entire", "verbatim"] as const)(
  "a spilled string that matches takes the hash of its file along (%s)",
  async (dialect) => {
    const user = new SigningUser();
    const long = `${"x".repeat(9 * 1024 * 1024)} 48213`;
    const { target, path } = await user.write({ dialect }, [
      said("short"),
      said(long),
      said("end"),
    ]);
    const sha256 = /"sha256":"([0-9a-f]{64})"/.exec(readFileSync(path, "utf8"))?.[1] ?? "";
    const shown = await disclose(user, target, { finder: () => [] });
    assert.ok(shown.bytes.includes(sha256) && sha256.length === 64);
    const { bytes } = await disclose(user, target);
    assert.ok(!bytes.includes(sha256));
    expect(verdictOf(judgeBytes(keysOf(user), bytes))).toBe("verified");
  },
);
