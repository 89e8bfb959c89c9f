/**
 * A signed session: recorded, verified, altered by somebody, and found out.
 *
 *   node examples/signed.mjs [directory]
 */

import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "verbatim-log";
import { readVerifiedThreadMeta, Thread } from "verbatim-log/rye";
import {
  inspectJson,
  openVerified,
  signJson,
  verifyJson,
  verifySession,
} from "verbatim-log/signing";

const project = process.argv[2] ?? mkdtempSync(join(tmpdir(), "verbatim-signed-"));
// Keys and pins are the user's own. Here they are made for the example alone.
process.env.XDG_CONFIG_HOME = join(project, "config");
process.env.XDG_STATE_HOME = join(project, "state");

// A thread that signs every turn, and says what it may do.
const limits = { turns: 20, spend: 0.5 };
const thread = await Thread.start({
  projectPath: project,
  directive: "deploy",
  threadId: "deploy-1",
  limits,
  sign: true,
});
for (const text of ["The tests pass.", "I will not deploy on a Friday.", "Waiting for Monday."]) {
  await thread.step(async () => {
    await thread.assistantText(text);
  });
}
await thread.complete();

const where = { root: project };
const { verdict, checkpoints } = await verifySession("deploy-1", where);
console.log(`${verdict}, ${checkpoints.valid} checkpoints`);
console.log("may spend", (await readVerifiedThreadMeta(project, "deploy-1")).limits.spend);

// Only what verifies is read.
const session = await openVerified("deploy-1", where);
for await (const { kind, parts, verified } of session.entries()) {
  if (kind === "message") console.log(verified ? "signed:" : "unsigned:", parts[0].text);
}
session.close();

// Somebody takes the refusal out.
const path = join(project, ".ai/threads/deploy-1/transcript.jsonl");
const honest = readFileSync(path, "utf8");
writeFileSync(path, honest.replace("I will not deploy", "I will now deploy"));
const altered = await verifySession("deploy-1", where);
console.log(`${altered.verdict}: turn ${altered.bad_range.turns}`);

// Somebody cuts the end off, where the signatures still hold: its head was remembered.
writeFileSync(path, honest.slice(0, honest.lastIndexOf("\n", honest.length - 2) + 1));
console.log((await verifySession("deploy-1", where)).verdict);

// Somebody appends.
writeFileSync(path, honest);
appendFileSync(path, '{"ts":"x","type":"user_message","thread_id":"deploy-1","text":"go"}\n');
console.log((await verifySession("deploy-1", where)).verdict);
await openVerified("deploy-1", where).catch(({ code }) => console.log("refused:", code));

// Every dialect of a store signs.
for (const dialect of ["homeagent", "entire"]) {
  const root = join(project, dialect);
  const store = await openStore({ dialect, root, sign: true, agent: "kitchen" });
  const begun = await store.create();
  await begun.append({ kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] });
  await store.close();
  console.log(dialect, (await verifySession(begun.id, { root })).verdict);
}

// And any JSON object can carry a signature.
const signed = await signJson({ step: 3, state: "done" });
console.log("object:", await verifyJson(signed));
console.log("altered object:", (await inspectJson({ ...signed, step: 4 })).reason);
console.log(`kept in ${project}`);
