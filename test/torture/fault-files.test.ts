import assert from "node:assert/strict";
import { test } from "vitest";
import { Machine } from "./fault-files.ts";
import { Random, Scheduler } from "./scheduler.ts";

test("a promise resolved before a kill does not call back after it", async () => {
  const random = new Random(1);
  const scheduler = new Scheduler(random);
  const machine = new Machine({ random, scheduler, pageBytes: 64, plan: () => null });
  const process = machine.startProcess();
  const heard: string[] = [];

  process.whileAlive((what: string) => heard.push(what))("before");
  const resolved = Promise.resolve("after").then(process.whileAlive((what) => heard.push(what)));
  process.kill();
  await resolved;

  assert.deepEqual(heard, ["before"]);
});
