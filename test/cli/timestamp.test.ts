/** Time stamps by a real authority of openssl. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { userPaths } from "../../src/core/base/node-paths.ts";
import { loadSigner, type Signer } from "../../src/trust/keys/keys.ts";
import { signedThread } from "../support/signed-thread.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { CliUser } from "./cli.ts";
import { put } from "./stores.ts";

const ID = "hello-1";

class User extends CliUser {
  signer(): Promise<Signer> {
    return loadSigner(nodeHost, userPaths({ XDG_CONFIG_HOME: join(this.home, ".config") }));
  }

  async thread(turns: number, options: { word?: string } = {}): Promise<void> {
    const { bytes } = await signedThread(await this.signer(), ID, { turns, ...options });
    put(join(this.cwd, ".ai/threads", ID, "transcript.jsonl"), bytes);
  }

  async ran(...args: string[]): Promise<[number | null, string]> {
    const { code, stdout, stderr } = await this.run(args);
    return [code, stdout + stderr];
  }
}

/** An authority: its URL, its certificate, and how it answers. */
async function authority() {
  const home = tempDirectory();
  const at = (name: string) => join(home, name);
  const config = [
    "[tsa]",
    "default_tsa = own",
    "[own]",
    `serial = ${at("serial")}`,
    `signer_cert = ${at("ca.pem")}`,
    `signer_key = ${at("key.pem")}`,
    "signer_digest = sha256",
    "default_policy = 1.2.3.4.1",
    "digests = sha256",
    "accuracy = secs:1",
    "ess_cert_id_alg = sha256",
    "[req]",
    "distinguished_name = dn",
    "[dn]",
    "[ext]",
    "extendedKeyUsage = critical,timeStamping",
  ];
  writeFileSync(at("config"), `${config.join("\n")}\n`);
  writeFileSync(at("serial"), "01\n");
  const made = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=tsa",
  ];
  const files = ["-keyout", at("key.pem"), "-out", at("ca.pem")];
  const settings = ["-config", at("config"), "-extensions", "ext"];
  execFileSync("openssl", [...made, ...files, ...settings], { stdio: "ignore" });
  const state = { reply: null as Buffer | null, status: 200 };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    writeFileSync(at("query"), Buffer.concat(pieces));
    const reply = ["ts", "-reply", "-queryfile", at("query"), "-config", at("config")];
    spawnSync("openssl", [...reply, "-out", at("reply")]);
    response.writeHead(state.status, { "Content-Type": "application/timestamp-reply" });
    response.end(state.reply ?? readFileSync(at("reply")));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/tsr`, ca: at("ca.pem"), state };
}

const stampIn = (user: User): string => {
  const folder = join(user.home, ".local/state/verbatim/witnessed");
  const [log = ""] = readdirSync(folder);
  const [name = ""] = readdirSync(join(folder, log)).filter((each) => each.endsWith(".tsr"));
  return join(folder, log, name);
};

test("a time stamp of the head is kept, and checked by openssl against the user's certificate only", async () => {
  const user = new User();
  await user.thread(2);
  const tsa = await authority();
  const [code, text] = await user.ran("keys", "head", "timestamp", ID, "--tsa", tsa.url);
  assert.equal(code, 0, text);
  const path = stampIn(user);
  expect(text).toContain(path);
  await user.thread(4);
  const plain = await user.ran("verify", ID);
  assert.equal(plain[0], 0);
  expect(plain[1]).toMatch(/TIMESTAMPED.*of checkpoint 1 is not checked: give --tsa-ca/);
  const checked = await user.ran("verify", ID, "--tsa-ca", tsa.ca);
  assert.equal(checked[0], 0);
  expect(checked[1]).toMatch(/TIMESTAMPED.*checkpoint 1 holds: it existed by .*GMT/);
  const other = await authority();
  const wrong = await user.ran("verify", ID, "--tsa-ca", other.ca);
  expect(wrong[1]).toMatch(/checkpoint 1 does not hold: /);
  const good = readFileSync(path);
  for (const at of [good.length - 20, Math.floor(good.length / 2)]) {
    const bytes = Buffer.from(good);
    bytes[at] = (bytes[at] as number) ^ 1;
    writeFileSync(path, bytes);
    const [, said] = await user.ran("verify", ID, "--tsa-ca", tsa.ca);
    expect(said).toMatch(/does not hold/);
  }
  writeFileSync(path, good);
  await user.thread(4, { word: "replaced" });
  const [, replaced] = await user.ran("verify", ID, "--tsa-ca", tsa.ca);
  expect(replaced).toContain("is of another line than the log's");
});

test("a refused, endless or missing answer of an authority is an error, and nothing is kept", async () => {
  const user = new User();
  await user.thread(2);
  const tsa = await authority();
  const ask = (url = tsa.url) => user.ran("keys", "head", "timestamp", ID, "--tsa", url);
  for (const [reply, status] of [
    [Buffer.from("x"), 200],
    [Buffer.alloc(0), 200],
    [Buffer.alloc(600_000), 200],
    [null, 500],
  ] as const) {
    Object.assign(tsa.state, { reply, status });
    const [code, text] = await ask();
    assert.equal(code, 7, text);
    expect(text).toContain("WITNESS_FAILED");
  }
  assert.equal((await ask("http://127.0.0.1:1/"))[0], 7);
  assert.equal((await ask("file:///etc/passwd"))[0], 2);
  assert.ok(!existsSync(join(user.home, ".local/state/verbatim/witnessed")));
});

test("without openssl a kept time stamp is not checked, and none can be made", async () => {
  const user = new User();
  await user.thread(2);
  const tsa = await authority();
  assert.equal((await user.ran("keys", "head", "timestamp", ID, "--tsa", tsa.url))[0], 0);
  const env = { PATH: join(user.home, "empty") };
  const own = { env, isOwnProcess: true };
  const verified = await user.run(["verify", ID, "--tsa-ca", tsa.ca], own);
  assert.equal(verified.code, 0, verified.stderr);
  expect(verified.stdout).toMatch(/is not checked: openssl failed: it is not installed/);
  const made = await user.run(["keys", "head", "timestamp", ID, "--tsa", tsa.url], own);
  assert.equal(made.code, 7);
  expect(made.stderr).toContain("PROGRAM_FAILED");
});
