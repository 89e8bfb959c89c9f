/**
 * A signed session: recorded, verified, altered, and the change detected.
 *
 *   node examples/signed.mjs [directory]
 */

import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "verbatim-log";
import { readVerifiedThreadMeta, Thread } from "verbatim-log/rye";
import { inspectJson, openVerified, signJson, verify, verifyJson } from "verbatim-log/signing";

const project = process.argv[2] ?? mkdtempSync(join(tmpdir(), "verbatim-signed-"));
// Normally these are the user's own keys and pinned heads. Here they are created only for the example.
process.env.XDG_CONFIG_HOME = join(project, "config");
process.env.XDG_STATE_HOME = join(project, "state");

// A thread that signs every turn, and states its permissions.
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
const { verdict, checkpoints } = await verify("deploy-1", where);
console.log(`${verdict}, ${checkpoints.valid} checkpoints`);
console.log("may spend", (await readVerifiedThreadMeta(project, "deploy-1")).limits.spend);

// Read only verified entries.
const session = await openVerified("deploy-1", where);
for await (const { kind, parts, verified } of session.entries()) {
  if (kind === "message") console.log(verified ? "signed:" : "unsigned:", parts[0].text);
}
session.close();

// An attacker removes the refusal.
const path = join(project, ".ai/threads/deploy-1/transcript.jsonl");
const honest = readFileSync(path, "utf8");
writeFileSync(path, honest.replace("I will not deploy", "I will now deploy"));
const altered = await verify("deploy-1", where);
console.log(`${altered.verdict}: turn ${altered.bad_range.turns}`);

// An attacker truncates the log at a valid checkpoint: the pinned head reveals it.
writeFileSync(path, honest.slice(0, honest.lastIndexOf("\n", honest.length - 2) + 1));
console.log((await verify("deploy-1", where)).verdict);

// Another program appends.
writeFileSync(path, honest);
appendFileSync(path, '{"ts":"x","type":"user_message","thread_id":"deploy-1","text":"go"}\n');
console.log((await verify("deploy-1", where)).verdict);
await openVerified("deploy-1", where).catch(({ code }) => console.log("refused:", code));

// Every dialect can be signed.
for (const dialect of ["homeagent", "entire"]) {
  const root = join(project, dialect);
  const store = await openStore({ dialect, root, sign: true, agent: "kitchen" });
  const begun = await store.create();
  await begun.append({ kind: "message", role: "user", parts: [{ type: "text", text: "Hi" }] });
  await store.close();
  console.log(dialect, (await verify(begun.id, { root })).verdict);
}

// Any JSON object can be signed too.
const signed = await signJson({ step: 3, state: "done" });
console.log("object:", verifyJson(signed));
console.log("altered object:", inspectJson({ ...signed, step: 4 }).reason);
console.log(`kept in ${project}`);
