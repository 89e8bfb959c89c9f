/**
 * LangGraph: a graph whose threads are signed, append-only logs. It asks a person, its process is
 * killed with -9, and the next one goes on with the answer.
 *
 *     node examples/langgraph.mjs [project directory]
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { VerbatimSaver } from "verbatim-log/langgraph";
import { verify } from "verbatim-log/signing";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-langgraph-")), role] = process.argv;
// Normally these are the user's own keys. Here they are created only for the example.
process.env.XDG_CONFIG_HOME = join(project, "config");
process.env.XDG_STATE_HOME = join(project, "state");

// This is all you need.
const checkpointer = new VerbatimSaver({ root: project, sign: "append" });

const graph = new StateGraph(MessagesAnnotation)
  .addNode("person", () => ({ messages: [{ role: "user", content: interrupt("Which room?") }] }))
  .addNode("cook", () => ({ messages: [{ role: "assistant", content: "It is warm there." }] }))
  .addEdge(START, "person")
  .addEdge("person", "cook")
  .addEdge("cook", END)
  .compile({ checkpointer });
const thread = { configurable: { thread_id: "kitchen" } };

if (role === "ask") {
  await graph.invoke({ messages: [{ role: "user", content: "Is it warm?" }] }, thread);
  writeSync(1, "asked\n");
  setInterval(() => {}, 1000); // The answer may take days.
} else {
  const victim = spawn(process.execPath, [fileURLToPath(import.meta.url), project, "ask"]);
  await once(victim.stdout, "data");
  victim.kill("SIGKILL");
  await once(victim, "exit");
  const { tasks } = await graph.getState(thread);
  print(`after the kill, it still asks: ${tasks[0].interrupts[0].value}`);
  const { messages } = await graph.invoke(new Command({ resume: "The kitchen." }), thread);
  for (const { type, content } of messages) print(`${type}: ${content}`);
  await checkpointer.close();
  print((await verify("langgraph/kitchen", { root: project })).verdict);
  print(`kept in ${project}`);
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
