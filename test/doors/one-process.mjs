/**
 * Uses one entry point of the package as its users do, with sessions of one layout, and exits. It
 * fails if that does not load the layout's code (dialects-loaded.test.ts). Prints what it got, as JSON.
 *
 *     one-process.mjs STEP DIALECT ROOT [ID]
 */

import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const [, , step = "", dialect = "", folder = "", id = ""] = process.argv;
const root = resolve(folder);
const where = { root, dialect };
const HELLO = {
  kind: "message",
  role: "user",
  parts: [{ type: "text", text: "Where do I live?" }],
};

/** A log below the root. */
function logPath() {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  const log = files.find((name) => name.endsWith(".jsonl") && statSync(join(root, name)).size > 0);
  return join(root, log ?? "");
}

/** @type {Readonly<Record<string, () => Promise<unknown>>>} */
const STEPS = {
  async create() {
    const { openStore } = await import("verbatim-log");
    const store = await openStore({ ...where, sign: true });
    const session = await store.create({ id, agent: "cook" });
    await session.append(HELLO);
    await store.close();
  },
  async list() {
    const { openStore } = await import("verbatim-log");
    const store = await openStore(where);
    const [session] = await store.list();
    const kinds = [];
    for await (const { kind } of store.session(session.id).entries()) kinds.push(kind);
    return kinds.includes("message");
  },
  async verify() {
    const { verify } = await import("verbatim-log/signing");
    return (await verify([], where)).map(({ verdict }) => verdict);
  },
  async "verify a path"() {
    const { verify } = await import("verbatim-log/signing");
    return (await verify([logPath()])).map(({ verdict }) => verdict);
  },
  async "open verified"() {
    const { openVerified } = await import("verbatim-log/signing");
    const session = await openVerified(logPath(), { allowUnsigned: true });
    session.close();
  },
  async resume() {
    const { resume } = await import("verbatim-log/resume");
    const options = { for: "openai-chat", allowUnsigned: true, ...where, prompt: null };
    return (await resume(id, options)).messages.length > 0;
  },
  async "resume a path"() {
    const { resume } = await import("verbatim-log/resume");
    const options = { for: "openai-chat", allowUnsigned: true, prompt: null };
    return (await resume(logPath(), options)).messages.length > 0;
  },
  async handoff() {
    const { handoff } = await import("verbatim-log/resume");
    await handoff(id, { ...where, output: "handed.vbx" });
  },
  async unpack() {
    const { unpack } = await import("verbatim-log/resume");
    await unpack("handed.vbx", { root: resolve("unpacked") });
  },
  async serve() {
    const { openServer } = await import("verbatim-log/server");
    const server = await openServer({ root: "data", port: 0, sessionRoots: [root] });
    const answers = [];
    const { sessions } = await (await fetch(`${server.url}/v1/sessions`)).json();
    for (const end of ["", "/entries"]) {
      const response = await fetch(`${server.url}/v1/sessions/${sessions[0].id}${end}`);
      answers.push(response.status);
    }
    await server.close();
    return answers;
  },
};

process.stdout.write(`${JSON.stringify((await STEPS[step]()) ?? null)}\n`);
