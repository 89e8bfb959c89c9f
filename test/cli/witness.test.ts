/** `verbatim keys head witness`, and what `verify` says of it: a real witness, over HTTP. */

import assert from "node:assert/strict";
import { createCipheriv } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { userPaths } from "../../src/core/base/node-paths.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { loadStreamSigner } from "../../src/streams/signing/signing-user.ts";
import { loadSigner, type Signer } from "../../src/trust/keys/keys.ts";
import { startTestServer, type TestServer } from "../server/test-server.ts";
import { JSON_STREAM, RAW_STREAM } from "../support/signed-streams.ts";
import { signedThread, signedTurns } from "../support/signed-thread.ts";
import { SigningUser } from "../support/signing-user.ts";
import { cosignedAt, NoteSigner, sha256 } from "../support/tlog.ts";
import { Witnessing } from "../support/witnessing.ts";
import { CliUser, jsonLines } from "./cli.ts";
import { put } from "./stores.ts";

const ID = "hello-1";
const NAME = "ada.example";
const W = "witness.example/w1";

class WitnessUser extends CliUser {
  readonly state = join(this.home, ".local/state/verbatim");

  signer(): Promise<Signer> {
    return loadSigner(nodeHost, userPaths({ XDG_CONFIG_HOME: join(this.home, ".config") }));
  }

  /** Puts a session of so many turns there; `word` changes what was said. */
  async thread(turns: number, options: { word?: string; salt?: number } = {}): Promise<Buffer> {
    const { bytes } = await signedThread(await this.signer(), ID, { turns, ...options });
    put(join(this.cwd, ".ai/threads", ID, "transcript.jsonl"), bytes);
    return bytes;
  }

  async ran(args: readonly string[]): Promise<[number | null, string]> {
    const { code, stdout, stderr } = await this.run(args);
    return [code, stdout + stderr];
  }

  witness(server: TestServer, ...more: string[]) {
    const key = server.running.witnessKey ?? "";
    const to = ["--to", `${server.url}/witness`, "--witness-key", key, "--as", NAME];
    return this.ran(["keys", "head", "witness", ID, ...to, ...more]);
  }

  verify(...args: string[]): Promise<[number | null, string]> {
    return this.ran(["verify", ID, ...args]);
  }
}

/** A user, and a witness that admits their key. */
async function start(): Promise<{ user: WitnessUser; server: TestServer; own: Witnessing }> {
  new SigningUser(); // The witness has keys of its own.
  const user = new WitnessUser();
  await user.signer();
  const [code, vkey] = await user.ran(["keys", "export", "--for-witness", NAME]);
  assert.equal(code, 0, vkey);
  const own = new Witnessing();
  own.admit(vkey.trim());
  return { user, own, server: await startTestServer({ witness: join(own.home, "logs") }) };
}

test("a head is cosigned, followed as the log grows, and reported by verify", async () => {
  const { user, server } = await start();
  for (const turns of [1, 3, 3, 8]) {
    await user.thread(turns);
    const [code, text] = await user.witness(server);
    assert.equal(code, 0, text);
    expect(text).toMatch(new RegExp(`^${W} cosigned checkpoint ${turns - 1} at 2`));
  }
  const [folder = ""] = readdirSync(join(user.state, "witnessed"));
  const [name = ""] = readdirSync(join(user.state, "witnessed", folder)).filter((each) =>
    each.endsWith(".note"),
  );
  const note = readFileSync(join(user.state, "witnessed", folder, name), "utf8");
  const body = note.slice(0, note.indexOf("\n\n") + 1);
  assert.match(body, new RegExp(`^${NAME}/${folder}\n15\n[^\n]{44}\nverbatim seq=7 line=`));
  const line = `${note.trimEnd().split("\n").at(-1)}\n`;
  assert.ok(cosignedAt(body, line, server.running.witnessKey ?? ""));
  await user.thread(9);
  const [code, text] = await user.verify("--require-witness", W);
  assert.equal(code, 0, text);
  expect(text).toMatch(new RegExp(`witnessed by ${W} at .* to turn 7; whether it has seen more`));
  const { stdout } = await user.run(["verify", ID, "--json", "--ask-witness"]);
  const [report] = jsonLines(stdout);
  assert.equal(report?.verdict, "verified");
  const said = (report?.witnessed ?? []) as { witness: string; seq: number; asked: boolean }[];
  assert.deepEqual(
    said.map(({ witness, seq, asked }) => [witness, seq, asked]),
    [
      [W, 7, false],
      [W, 7, true],
    ],
  );
});

test("the witness is known by its name from then on, and a lost note only costs one request more", async () => {
  const { user, server } = await start();
  await user.thread(2);
  assert.equal((await user.witness(server))[0], 0);
  await user.thread(5);
  for (const [log = ""] of [readdirSync(join(user.state, "witnessed"))]) {
    const folder = join(user.state, "witnessed", log);
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "");
  }
  const again = ["keys", "head", "witness", ID, "--to", W];
  const [code, text] = await user.ran(again);
  assert.equal(code, 2, "the name was in the note");
  expect(text).toContain("give --as");
  assert.equal((await user.ran([...again, "--as", NAME]))[0], 0);
  assert.equal((await user.ran(again))[0], 0, "it is kept again");
});

test("a log cut back behind a witnessed head is a rollback, by the kept note and by asking", async () => {
  const { user, server } = await start();
  await user.thread(4);
  assert.equal((await user.witness(server))[0], 0);
  await user.thread(2);
  const [code, text] = await user.verify();
  assert.equal(code, 6);
  expect(text).toMatch(/rollback/);
  expect(text).toMatch(
    new RegExp(`BEHIND.*${W} cosigned at .*: checkpoint 3, and the log ends with 1`),
  );
  const [required, advised] = await user.verify("--require-witness", W);
  assert.equal(required, 6);
  expect(advised).toContain("restore it from a copy");
  expect(advised).not.toContain("head witness");
  const [sent, said] = await user.witness(server);
  assert.equal(sent, 6);
  expect(said).toContain("has seen this log with 7 leaves, and it has 3 now");
  // Another machine has no note, only the key and the name.
  const other = new WitnessUser();
  put(join(other.cwd, ".ai/threads", ID, "transcript.jsonl"), await user.thread(2));
  const pem = join(other.cwd, "ada.pem");
  await user.ran(["keys", "export", pem]);
  assert.equal((await other.ran(["keys", "trust", "add", pem, "--owner", "Ada", "--yes"]))[0], 0);
  assert.equal((await other.verify())[0], 0, "it knows no later head");
  const list = `witness ${W} ${server.running.witnessKey} ${server.url}/witness\n`;
  writeFileSync(join(other.home, ".config/verbatim/witnesses"), list, { mode: 0o600 });
  assert.deepEqual((await other.verify("--ask-witness"))[0], 6, "the name there is not known");
  const [asked, answer] = await other.verify("--ask-witness", "--origin", NAME);
  assert.equal(asked, 6);
  expect(answer).toMatch(/BEHIND.*checkpoint 3, and the log ends with 1/);
});

test("two signed lines of one checkpoint are a rollback, and both are kept as evidence", async () => {
  const { user, server } = await start();
  await user.thread(3);
  assert.equal((await user.witness(server))[0], 0);
  const forged = await user.thread(3, { word: "replaced" });
  const [sent, said] = await user.witness(server);
  assert.equal(sent, 6);
  expect(said).toContain("has seen another history of this log");
  for (const args of [[], ["--ask-witness"]]) {
    const [code, text] = await user.verify(...args);
    assert.equal(code, 6);
    const path = /kept in (\S+evidence-\d+)/.exec(text)?.[1];
    assert.ok(path, text);
    const evidence = readFileSync(path, "utf8");
    const last = forged.toString().trimEnd().split("\n").at(-1) ?? "";
    assert.ok(evidence.includes(last) && evidence.includes("verbatim seq=2 line="));
    assert.ok(evidence.includes(`\u2014 ${W} `));
  }
});

test("a disclosed copy is compared with witnesses too: witnessed, behind, replaced", async () => {
  const { user, server } = await start();
  const copyOf = async (turns: number, name: string, word?: string) => {
    await user.thread(turns, word === undefined ? {} : { word });
    const args = ["redact", ID, "--entry", "1", "--reason", "a test", "--yes", "-o", name];
    const [code, text] = await user.ran(args);
    assert.equal(code, 0, text);
  };
  await copyOf(2, "short.vbd");
  await copyOf(4, "forged.vbd", "replaced");
  await copyOf(4, "good.vbd");
  assert.equal((await user.witness(server))[0], 0);
  const good = await user.ran(["verify", "good.vbd", "--require-witness", W, "--ask-witness"]);
  assert.equal(good[0], 0, good[1]);
  expect(good[1]).toMatch(/witnessed by .* to turn 3/);
  const [forged, fork] = await user.ran(["verify", "forged.vbd"]);
  assert.equal(forged, 6, fork);
  expect(fork).toContain(`error FORK: ${W} cosigned`);
  // An older copy is not contradicted by what was signed later; but no witness saw its head.
  const [short, older] = await user.ran(["verify", "short.vbd"]);
  assert.equal(short, 0, older);
  expect(older).toMatch(/cosigned at .*: checkpoint 3, and this copy is up to checkpoint 1/);
  assert.equal((await user.ran(["verify", "short.vbd", "--require-witness", W]))[0], 6);
});

test("verify --pin pins nothing that a witness contradicts", async () => {
  const { user, server } = await start();
  await user.thread(4);
  assert.equal((await user.witness(server))[0], 0);
  await user.thread(2);
  assert.equal((await user.verify("--pin"))[0], 6);
  assert.equal((await user.run(["keys", "head", "show"])).stdout, "");
  await user.thread(4);
  assert.equal((await user.verify("--pin"))[0], 0);
  expect((await user.run(["keys", "head", "show"])).stdout).toContain(ID);
});

test("raw streams of a server's data directory are witnessed, leaf by leaf", async () => {
  const { user, server } = await start();
  process.env.XDG_CONFIG_HOME = join(user.home, ".config");
  process.env.XDG_STATE_HOME = join(user.home, ".local/state");
  const directory = join(user.cwd, "streams");
  const to = ["--to", `${server.url}/witness`, "--witness-key", server.running.witnessKey ?? ""];
  for (const [path, stream] of [
    ["/raw", RAW_STREAM],
    ["/json", JSON_STREAM],
  ] as const) {
    for (const round of [1, 2, 3]) {
      const signing = await loadStreamSigner(nodeHost, () => {});
      const store = await openLocalStore({ dataDirectory: directory, signing });
      if (round === 1) await store.create(path, stream);
      await store.append(path, {
        contentType: stream.contentType,
        body: Buffer.from("[1,2]"),
        close: false,
      });
      await store.close();
      const args = ["keys", "head", "witness", path, "--root", directory, ...to, "--as", NAME];
      const [code, text] = await user.ran(args);
      assert.equal(code, 0, text);
    }
  }
  const [code, text] = await user.ran(["verify", directory, "--require-witness", W]);
  assert.equal(code, 0, text);
  assert.equal(text.match(/witnessed by/g)?.length, 2, text);
});

test("after head accept no witness follows: accept says so, verify notes it, asking is a rollback", async () => {
  const { user, server } = await start();
  await user.thread(4);
  assert.equal((await user.witness(server))[0], 0);
  assert.equal((await user.ran(["verify", ID, "--pin"]))[0], 0);
  await user.thread(2);
  const [code, text] = await user.ran(["keys", "head", "accept", ID, "--yes"]);
  assert.equal(code, 0, text);
  expect(text).toContain("none of them follows this log any more");
  const [after, said] = await user.verify();
  assert.equal(after, 0, said);
  expect(said).toContain("no witness follows this log any more");
  assert.equal((await user.verify("--require-witness", W))[0], 6);
  assert.equal((await user.verify("--ask-witness"))[0], 6);
});

test("without the required witness a session is unpinned: no note, another name, a key not in the list", async () => {
  const { user, server } = await start();
  await user.thread(2);
  const [code, text] = await user.verify("--require-witness", W);
  assert.equal(code, 6);
  expect(text).toMatch(/unpinned[\s\S]*no head of this log is witnessed by witness.example\/w1/);
  expect(text).toMatch(/\n {2}`verbatim keys head witness` has its head cosigned by a witness\n/);
  assert.equal((await user.verify("--ask-witness"))[0], 6, "none is listed");
  assert.equal((await user.witness(server))[0], 0);
  assert.equal((await user.verify("--require-witness", W))[0], 0);
  assert.equal((await user.verify("--require-witness", "other"))[0], 6);
  writeFileSync(join(user.home, ".config/verbatim/witnesses"), "", { mode: 0o600 });
  const [unlisted, said] = await user.verify("--require-witness", W);
  assert.equal(unlisted, 6);
  expect(said).toContain("not cosigned by a witness in your list");
});

test("a flipped byte of a kept note never counts, and is no rollback", async () => {
  const { user, server } = await start();
  await user.thread(2);
  assert.equal((await user.witness(server))[0], 0);
  const [log = ""] = readdirSync(join(user.state, "witnessed"));
  const folder = join(user.state, "witnessed", log);
  const [name = ""] = readdirSync(folder).filter((each) => each.endsWith(".note"));
  const good = readFileSync(join(folder, name));
  for (const at of [0, 40, 60, good.indexOf("seq=") + 4, good.length - 10, good.length - 120]) {
    const bytes = Buffer.from(good);
    bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(join(folder, name), bytes);
    const [code, text] = await user.verify("--require-witness", W);
    assert.equal(code, 6, text);
    expect(text).toContain("unpinned");
  }
});

test("a witness that lies or fails is refused: another key, nonsense, no server", async () => {
  const { user, own } = await start();
  await user.thread(2);
  let answer = "";
  const liar = createServer((_, response) => void response.end(answer));
  await new Promise<void>((done) => liar.listen(0, "127.0.0.1", done));
  const { port } = liar.address() as { port: number };
  const key = (await own.open()).verifierKey;
  const send = () =>
    user.ran([
      "keys",
      "head",
      "witness",
      ID,
      "--to",
      `http://127.0.0.1:${port}`,
      "--witness-key",
      key,
      "--as",
      NAME,
    ]);
  try {
    const other = new NoteSigner().note(`${NAME}/x\n1\nx\n`);
    for (const text of ["", "x\n", other.slice(other.indexOf("\u2014")), "y".repeat(200_000)]) {
      answer = text;
      const [code, said] = await send();
      assert.equal(code, 7, said);
      expect(said).toContain("WITNESS_FAILED");
    }
  } finally {
    liar.close();
  }
  assert.equal((await send())[0], 7);
  assert.ok(!existsSync(join(user.state, "witnessed")));
});

test("a head that another key signed under the same name does not count, though the witness cosigned it", async () => {
  const { user, server, own } = await start();
  await user.thread(2);
  const { stdout } = await user.run(["verify", ID, "--json"]);
  const origin = `${NAME}/${jsonLines(stdout)[0]?.log}`;
  const body = own.request(0, 50, { origin });
  const added = await fetch(`${server.url}/witness/add-checkpoint`, { method: "POST", body });
  assert.equal(added.status, 200, "the operator lists both keys under this name");
  const list = `witness ${W} ${server.running.witnessKey} ${server.url}/witness\n`;
  writeFileSync(join(user.home, ".config/verbatim/witnesses"), list, { mode: 0o600 });
  const [code, text] = await user.verify("--ask-witness", "--origin", NAME);
  assert.equal(code, 6);
  expect(text).toMatch(/^hello-1: unpinned/);
  expect(text).toContain("not signed by a key of this log");
});

test("an answer that was recorded earlier is not fresh: the time of the cosignature shows it", async () => {
  const { user, own } = await start();
  await user.thread(2);
  const late = await own.open(() => Date.now() - 3_600_000);
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const newest = request.method === "GET" ? (request.url ?? "").split("/")[1] : null;
    const text = newest ? await late.newest(newest) : (await late.add(Buffer.concat(pieces))).text;
    response.end(text);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    const { port } = server.address() as { port: number };
    const to = ["--to", `http://127.0.0.1:${port}`, "--witness-key", late.verifierKey];
    assert.equal((await user.ran(["keys", "head", "witness", ID, ...to, "--as", NAME]))[0], 0);
    const [code, text] = await user.verify("--ask-witness");
    assert.equal(code, 6, text);
    expect(text).toContain("its clock differs by more than 300 seconds");
  } finally {
    server.close();
  }
});

test("a tlog-proof of any line holds by the specifications alone, with the witness's cosignature", async () => {
  const { user, server } = await start();
  const bytes = await user.thread(3);
  const lines = bytes.toString().trimEnd().split("\n");
  assert.equal((await user.witness(server))[0], 0);
  await user.thread(6);
  const prove = (entry: number, ...more: string[]) => {
    const name = `${entry}-${more.length}.tlog-proof`;
    const args = ["redact", "prove", ID, "--entry", String(entry), "--tlog", "-o", name, ...more];
    return user.ran(args).then(([code, text]) => ({ code, text, name: join(user.cwd, name) }));
  };
  // The salt of the log, and with it the leaf of a line without long strings (checkpoint.md).
  const key = Buffer.alloc(32, 1);
  for (const entry of [1, 3, 5, 7]) {
    const { code, text, name } = await prove(entry);
    assert.equal(code, 0, text);
    const isSeen = entry <= 5;
    expect(text).toContain(isSeen ? "with the cosignature" : "without a witness");
    const proof = readFileSync(name, "utf8");
    const [head = "", body = "", signatures = ""] = proof.split("\n\n");
    const [magic, extra = "", index = "", ...path] = head.split("\n");
    assert.deepEqual([magic, index], ["c2sp.org/tlog-proof@v1", `index ${entry - 1}`]);
    const leaf = Buffer.from(extra.slice("extra ".length), "base64");
    const iv = Buffer.alloc(16);
    iv.writeBigUInt64BE(BigInt(entry - 1));
    const salt = createCipheriv("aes-256-ctr", key, iv).update(Buffer.alloc(16));
    const line = lines[entry - 1];
    if (line !== undefined) {
      assert.deepEqual(leaf, sha256(Buffer.of(0), salt, Buffer.alloc(4), line), `line ${entry}`);
    }
    const [, size = "", root] = body.split("\n");
    const hashes = path.map((hash) => Buffer.from(hash, "base64"));
    assert.equal(rootBy(leaf, entry - 1, Number(size), hashes).toString("base64"), root);
    const cosignature = `${signatures.trimEnd().split("\n").at(-1)}\n`;
    const time = cosignedAt(`${body}\n`, cosignature, server.running.witnessKey ?? "");
    assert.equal(time !== null, isSeen);
  }
  assert.equal((await prove(99)).code, 7, "no such line");
  assert.equal((await prove(1, "--context", "2")).code, 2);
  assert.equal((await prove(1, "--entry", "2")).code, 2);
  const args = ["redact", "prove", ID, "--entry", "1", "--tlog", "-o", "x.vbp"];
  assert.equal((await user.ran(args))[0], 2);
});

/** RFC 9162, 2.1.3.2: the root that a leaf and its path lead to. */
function rootBy(leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer {
  let [fn, sn, hash] = [index, size - 1, leaf];
  for (const sibling of path) {
    assert.ok(sn > 0);
    if (fn % 2 === 1 || fn === sn) {
      hash = sha256(Buffer.of(1), sibling, hash);
      while (fn % 2 === 0 && fn > 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else {
      hash = sha256(Buffer.of(1), hash, sibling);
    }
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  assert.equal(sn, 0);
  return hash;
}

test("wrong arguments are refused: no witness, a bad key, a reserved name, another's session", async () => {
  const { user, server } = await start();
  await user.thread(2);
  const cases: [number, string, string[]][] = [
    [2, "give --to", []],
    [2, "is in your list", ["--to", "unknown"]],
    [7, "the key of the witness", ["--to", "https://x.example", "--witness-key", "x"]],
  ];
  for (const [code, message, args] of cases) {
    const [ran, text] = await user.ran(["keys", "head", "witness", ID, ...args]);
    assert.equal(ran, code, text);
    expect(text).toContain(message);
  }
  const [code, text] = await user.witness(server, "--as", "verbatim/x");
  assert.equal(code, 2);
  expect(text).toContain("it begins with verbatim/");
  const stranger = new WitnessUser();
  const { bytes } = await signedThread(await stranger.signer(), ID);
  put(join(user.cwd, ".ai/threads", ID, "transcript.jsonl"), bytes);
  assert.equal((await user.witness(server))[0], 4, "the key is not trusted");
});

test("a session whose checkpoints are in a sidecar file is witnessed too", async () => {
  const { user, server } = await start();
  const write = async (turns: number) => {
    const signed = await signedTurns(await user.signer(), "kitchen/1", { turns });
    const path = join(user.home, ".homeagent/agents/kitchen/sessions/1.jsonl");
    put(path, signed.bytes);
    put(`${path}.checkpoints`, signed.sidecar);
  };
  const to = ["--to", `${server.url}/witness`, "--witness-key", server.running.witnessKey ?? ""];
  for (const turns of [2, 5]) {
    await write(turns);
    const args = ["keys", "head", "witness", "kitchen/1", ...to, "--as", NAME];
    const [code, text] = await user.ran(args);
    assert.equal(code, 0, text);
  }
  const [code, text] = await user.ran(["verify", "kitchen/1", "--ask-witness"]);
  assert.equal(code, 0, text);
  expect(text).toMatch(/has seen nothing newer than turn \d+: the log's newest/);
});
