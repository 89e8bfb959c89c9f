/** The witness protocol: every refusal, and that the record only moves forward. */

import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { isTried } from "../../../test/support/seed.ts";
import {
  bodyOf,
  consistency,
  cosignedAt,
  extension,
  leavesOf,
  NoteSigner,
  rootOf,
  sha256,
  submission,
} from "../../../test/support/tlog.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import {
  LOG,
  ORIGIN,
  USER_NAME,
  WITNESS_NAME,
  Witnessing,
} from "../../../test/support/witnessing.ts";
import { EVIDENCE_MAX, SUBMISSION_BYTES_MAX, type Witness } from "./witness.ts";

async function send(witness: Witness, text: string): Promise<[number, string]> {
  const { status, text: answer } = await witness.add(Buffer.from(text));
  return [status, answer];
}

const statusOf = async (witness: Witness, text: string) => (await send(witness, text))[0];

test("a first tree and its continuations are cosigned with the time, as anyone can verify", async () => {
  const own = new Witnessing();
  const witness = await own.open(() => 1_700_000_000_999);
  assert.ok(witness.verifierKey.startsWith(`${WITNESS_NAME}+`));
  let old = 0;
  for (const size of [1, 1, 2, 7, 8, 20]) {
    const [status, line] = await send(witness, own.request(old, size));
    assert.equal(status, 200, line);
    const body = bodyOf(ORIGIN, leavesOf(size), extension(size));
    assert.equal(cosignedAt(body, line, witness.verifierKey), 1_700_000_000n);
    assert.equal(
      cosignedAt(body.replace(`\n${size}\n`, "\n99\n"), line, witness.verifierKey),
      null,
    );
    const newest = await witness.newest(sha256(ORIGIN).toString("hex"));
    assert.equal(newest, `${own.log.note(body)}${line}`);
    old = size;
  }
});

test("another old size than the witness has is 409 with its size, in its own content type", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  for (const old of [1, 3]) {
    assert.deepEqual(await send(witness, own.request(old, 3)), [409, "0\n"]);
  }
  assert.equal(await statusOf(witness, own.request(0, 3)), 200);
  for (const old of [0, 2, 4]) {
    const answer = await witness.add(Buffer.from(own.request(old, 5)));
    assert.deepEqual(answer, { status: 409, type: "text/x.tlog.size", text: "3\n" });
  }
  assert.equal(await statusOf(witness, own.request(3, 5)), 200);
});

test("a log that the operator does not list is 404; by another key, or falsely signed, 403", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  const other = new NoteSigner();
  const body = bodyOf(ORIGIN, leavesOf(2), extension(2));
  for (const origin of ["bob.example/x", `bob.example/${LOG}`, `${USER_NAME}/x`, `/${LOG}`, LOG]) {
    assert.equal(await statusOf(witness, own.request(0, 2, { origin })), 404, origin);
  }
  const ask = (note: string) => statusOf(witness, submission(0, [], note));
  assert.equal(await ask(other.note(body)), 403, "another key");
  assert.equal(await ask(own.log.note(body, "bob.example")), 403, "another key name");
  const good = own.log.note(body);
  const lied = own.log.note(bodyOf(ORIGIN, leavesOf(3), extension(2)));
  const falseLine = lied.slice(lied.indexOf("\u2014"));
  assert.equal(await ask(`${body}\n${falseLine}`), 403, "a signature over something else");
  assert.equal(await ask(`${good}${falseLine}`), 403, "a true and a false one by the same key");
  const lines = (note: string) => note.slice(note.indexOf("\u2014"));
  own.admit(other.vkey(USER_NAME));
  const falseOther = lines(other.note(bodyOf(ORIGIN, leavesOf(3), extension(2))));
  assert.equal(
    await ask(`${good}${falseOther}`),
    403,
    "a true one, and a false one by another key",
  );
  own.list(`name ${WITNESS_NAME}`, `log ${own.log.vkey(USER_NAME)}`);
  const foreign = other.note(body);
  assert.equal(await ask(`${good}${foreign.slice(foreign.indexOf("\u2014"))}`), 200, "unknown too");
});

test("a log is admitted, and no longer, when the operator changes the list", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  const second = new NoteSigner();
  const note = second.note(bodyOf(ORIGIN, leavesOf(2), extension(2)));
  assert.equal(await statusOf(witness, submission(0, [], note)), 403);
  own.admit(second.vkey(USER_NAME));
  assert.equal(await statusOf(witness, submission(0, [], note)), 200);
  const exact = "log.example/of-others";
  own.list(`name ${WITNESS_NAME}`, `log ${own.log.vkey(exact)}`);
  assert.equal(await statusOf(witness, submission(0, [], note)), 404);
  const others = own.log.note(bodyOf(exact, leavesOf(4)));
  assert.equal(await statusOf(witness, submission(0, [], others)), 200, "without an extension");
});

test("a tree that does not continue the last one is 422, and the record stays", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  assert.equal(await statusOf(witness, own.request(0, 5)), 200);
  const leaves = leavesOf(9);
  const note = own.log.note(bodyOf(ORIGIN, leaves, extension(9)));
  const proof = consistency(5, leaves);
  const cases: [string, string][] = [
    ["another log's proof", submission(5, consistency(5, leavesOf(9, "b")), note)],
    ["another log's tree", own.request(5, 9, { salt: "b" })],
    ["the same size, another root", own.request(5, 5, { salt: "b" })],
    ["a missing hash", submission(5, proof.slice(1), note)],
    ["a hash too many", submission(5, [...proof, ...proof.slice(0, 1)], note)],
    ["no proof", submission(5, [], note)],
    ["a proof for the same size", submission(5, proof, own.log.note(bodyOf(ORIGIN, leavesOf(5))))],
  ];
  for (const [what, text] of cases) assert.equal(await statusOf(witness, text), 422, what);
  assert.deepEqual(await send(witness, own.request(0, 9)), [409, "5\n"]);
  assert.equal(await statusOf(witness, own.request(5, 9)), 200);
});

test("from size 0 a proof must be empty, and an empty tree has the root of no leaves", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  const note = own.log.note(bodyOf(ORIGIN, leavesOf(3), extension(3)));
  assert.equal(await statusOf(witness, submission(0, leavesOf(1), note)), 422);
  const lie = `${ORIGIN}\n0\n${rootOf(leavesOf(1)).toString("base64")}\n`;
  assert.equal(await statusOf(witness, submission(0, [], own.log.note(lie))), 422);
  assert.equal(await statusOf(witness, own.request(0, 0)), 200);
  assert.equal(await statusOf(witness, own.request(0, 3)), 200);
});

test("malformed requests and hostile sizes are 400 and change nothing", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  const good = own.request(0, 3);
  const root = rootOf(leavesOf(3)).toString("base64");
  const sized = (size: string) => submission(0, [], own.log.note(`${ORIGIN}\n${size}\n${root}\n`));
  const bad = [
    "",
    "\n",
    "old 0",
    "old 0\n\n",
    good.slice(4),
    good.replace("old 0", "old 00"),
    good.replace("old 0", "old -1"),
    good.replace("old 0", "old  0"),
    `x${good}`,
    good.replace("old 0\n", "old 0\nnot base64\n"),
    good.replaceAll("\n", "\r\n"),
    good.slice(0, -1),
    good.replace(ORIGIN, `${ORIGIN}\u0000`),
    good.replace("old 0", "old 4"),
    sized("03"),
    sized("-1"),
    sized("9007199254740992"),
    sized("9".repeat(300)),
    sized("1e3"),
    submission(2 ** 53, [], own.log.note(bodyOf(ORIGIN, leavesOf(3)))),
    submission(0, Array(64).fill(leavesOf(1)[0]), own.log.note(bodyOf(ORIGIN, leavesOf(3)))),
    good.padEnd(SUBMISSION_BYTES_MAX + 1, "x"),
  ];
  for (const text of bad) {
    assert.equal(await statusOf(witness, text), 400, JSON.stringify(text.slice(0, 60)));
  }
  const notUtf8 = Buffer.concat([Buffer.from(good), Buffer.of(0xff, 0x0a)]);
  assert.equal((await witness.add(notUtf8)).status, 400);
  assert.deepEqual(await send(witness, own.request(2, 3)), [409, "0\n"]);
  assert.equal(await statusOf(witness, sized("9007199254740991")), 200, "the largest size");
});

test("a request with any byte flipped is never cosigned as another tree", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  assert.equal(await statusOf(witness, own.request(0, 5)), 200);
  const before = await witness.newest(sha256(ORIGIN).toString("hex"));
  const good = Buffer.from(own.request(5, 9));
  for (let at = 0; at < good.length; at++) {
    if (!isTried(at, 4)) continue;
    const bytes = Buffer.from(good);
    bytes[at] = (bytes[at] as number) ^ 1;
    const { status } = await witness.add(bytes);
    assert.notEqual(status, 200, `byte ${at}`);
  }
  assert.equal(await witness.newest(sha256(ORIGIN).toString("hex")), before);
});

test("of two requests at the same time one is cosigned and the other is 409, in two witnesses of one record too", async () => {
  const own = new Witnessing();
  const [one, two] = [await own.open(), await own.open()];
  assert.equal(one.verifierKey, two.verifierKey);
  assert.equal(await statusOf(one, own.request(0, 4)), 200);
  for (const [first, second] of [
    [one, one],
    [one, two],
  ] as const) {
    const size = Number((await send(first, own.request(0, 1)))[1]);
    const answers = await Promise.all([
      send(first, own.request(size, size + 1)),
      send(second, own.request(size, size + 3, { seq: size + 3 })),
    ]);
    assert.deepEqual(answers.map(([status]) => status).sort(), [200, 409]);
    const won = answers[0]?.[0] === 200 ? size + 1 : size + 3;
    assert.equal(answers.find(([status]) => status === 409)?.[1], `${won}\n`);
  }
});

test("a second line of one checkpoint is refused, and both are kept, signed by the log", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  assert.equal(await statusOf(witness, own.request(0, 4)), 200);
  const forked = (seq: number, line: string, size = 4) => {
    const leaves = leavesOf(size);
    const note = own.log.note(bodyOf(ORIGIN, leaves, extension(seq, line)));
    return submission(4, consistency(4, leaves), note);
  };
  for (let n = 0; n < EVIDENCE_MAX + 2; n++) {
    assert.equal(await statusOf(witness, forked(4, sha256(`${n}`).toString("hex"))), 422);
  }
  assert.equal(await statusOf(witness, forked(4, "a".repeat(64), 5)), 422, "over another tree");
  assert.equal(await statusOf(witness, forked(3, "a".repeat(64), 5)), 422, "an earlier one");
  assert.equal(await statusOf(witness, own.request(4, 4)), 200, "the same again");
  const directory = join(own.home, "data/.witness");
  const kept = readdirSync(directory).filter((name) => name.includes("evidence"));
  assert.equal(kept.length, EVIDENCE_MAX);
  const text = readFileSync(
    join(directory, `${sha256(ORIGIN).toString("hex")}.evidence-1`),
    "utf8",
  );
  assert.ok(text.includes(extension(4)) && text.includes(sha256("0").toString("hex")));
  assert.equal(text.match(new RegExp(`\u2014 ${ORIGIN} `, "g"))?.length, 2);
});

test("the record, its name and its directory are synced before the answer; a failed sync is no answer", async () => {
  const own = new Witnessing();
  const disk = new WatchedFiles();
  const witness = await own.open(Date.now, disk.host);
  const name = sha256(ORIGIN).toString("hex");
  assert.equal(await statusOf(witness, own.request(0, 4)), 200);
  const made = disk.calls.map(({ call, name }) => `${call} ${name}`);
  const steps = [`sync ${name}.tmp`, `rename ${name}.tmp`, "syncDirectory .witness"];
  const at = steps.map((step) => made.lastIndexOf(step));
  assert.ok(
    at.every((place, n) => place > (at[n - 1] ?? -1)),
    made.join(", "),
  );
  for (const step of ["sync", "syncDirectory"]) {
    disk.before = ({ call }) => {
      if (call === step) throw errno("EIO");
      return undefined;
    };
    await refusal(witness.add(Buffer.from(own.request(4, 5))), "IO_ERROR");
    disk.before = () => undefined;
  }
});

test("a witness follows as many logs as its limit, and not one more; known ones go forward", async () => {
  const own = new Witnessing();
  const witness = await own.open(Date.now, undefined, 2);
  const origin = (n: number) => `${USER_NAME}/${String(n).repeat(32)}`;
  for (const n of [1, 2]) {
    assert.equal(await statusOf(witness, own.request(0, 2, { origin: origin(n) })), 200);
  }
  const third = witness.add(Buffer.from(own.request(0, 2, { origin: origin(3) })));
  assert.equal((await refusal(third, "OVERLOADED")).details.max, 2);
  assert.equal(await statusOf(witness, own.request(2, 3, { origin: origin(1) })), 200);
});

test("a record that cannot be read is a fault, never a log that was not seen before", async () => {
  const own = new Witnessing();
  const witness = await own.open();
  assert.equal(await statusOf(witness, own.request(0, 4)), 200);
  const path = join(own.home, "data/.witness", sha256(ORIGIN).toString("hex"));
  for (const text of ["", "x", readFileSync(path, "utf8").replace(LOG, "0".repeat(32))]) {
    writeFileSync(path, text);
    await refusal(witness.add(Buffer.from(own.request(0, 4))), "STORE_DAMAGED");
  }
});

test("the witness's key is private, stays the same, and must not be the user's own", async () => {
  const own = new Witnessing();
  const { verifierKey } = await own.open();
  const path = join(own.home, "keys/witness/private_key.pem");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal((await own.open()).verifierKey, verifierKey);
  writeFileSync(join(own.home, "keys/private_key.pem"), readFileSync(path), { mode: 0o600 });
  assert.match((await refusal(own.open(), "KEY_REFUSED")).message, /needs its own/);
});

test("a faulty list of logs is refused with its line", async () => {
  const own = new Witnessing();
  const good = `log ${own.log.vkey(USER_NAME)}`;
  const name = `name ${WITNESS_NAME}`;
  const cases: [RegExp, string[]][] = [
    [/one line `name`/, [good]],
    [/one line `name`/, [name, name]],
    [/line 2: it begins neither/, [name, "logs x"]],
    [/line 1: a name has no spaces/, ["name a+b"]],
    [/line 3: it is not name\+id\+key/, [name, "# a comment", "log x"]],
    [/line 2: the name of a log never begins/, [name, `log ${own.log.vkey("verbatim/x")}`]],
    [/line 2: it has too many words/, [name, `${good} x`]],
  ];
  for (const [message, lines] of cases) {
    own.list(...lines);
    assert.match((await refusal(own.open(), "BAD_SETTING")).message, message);
  }
  own.list(name, good);
  chmodSync(join(own.home, "logs"), 0o666);
  assert.match((await refusal(own.open(), "BAD_SETTING")).message, /other users can change it/);
});
