import assert from "node:assert/strict";
import { test } from "vitest";
import { type Call, type Fault, Machine } from "../../../test/torture/fault-files.ts";
import { Random, Scheduler } from "../../../test/torture/scheduler.ts";
import { readSmallFile, replaceFile, replaceFileDurably } from "./replace.ts";

const [OLD, NEW] = ["old ".repeat(40), "new ".repeat(60)];

/** A machine with a directory in which `file` durably holds OLD. */
async function machineWithOld(seed: number, plan: (call: Call) => Fault | null = () => null) {
  const random = new Random(seed);
  const scheduler = new Scheduler(random);
  const machine = new Machine({ random, scheduler, pageBytes: 64, plan });
  const spared = await machine.startProcess(true).openDirectory("/d", { create: true });
  await scheduler.finish(replaceFileDurably(spared, "file", OLD));
  const directory = await machine.startProcess().openDirectory("/d", { create: true });
  return {
    machine,
    scheduler,
    directory,
    contents: () => machine.contents("/d", "file")?.toString(),
  };
}

test("a durably replaced file has the new contents after any power cut", async () => {
  for (let seed = 0; seed < 200; seed++) {
    const { machine, scheduler, directory, contents } = await machineWithOld(seed);
    await scheduler.finish(replaceFileDurably(directory, "file", NEW));
    machine.powerCut();
    assert.equal(contents(), NEW, `seed ${seed}`);
    assert.deepEqual(machine.names("/d"), ["file"]);
  }
});

test("a replacement that fails at any call leaves the old file whole, and no other file", async () => {
  const calls: Call[] = ["open", "write", "sync"];
  for (const failing of calls) {
    const plan = (call: Call): Fault | null => (call === failing ? { errno: "EIO" } : null);
    const { machine, scheduler, directory, contents } = await machineWithOld(1, plan);
    await assert.rejects(scheduler.finish(replaceFileDurably(directory, "file", NEW)), {
      code: "EIO",
    });
    assert.deepEqual(machine.names("/d"), ["file"], failing);
    machine.powerCut();
    assert.equal(contents(), OLD, failing);
  }
});

test("a short write replaces nothing", async () => {
  const plan = (call: Call): Fault | null =>
    call === "write" ? { lacks: 7, caller: "returns" } : null;
  const { machine, directory, contents } = await machineWithOld(1, plan);
  assert.throws(() => replaceFile(directory, "file", NEW), { code: "ENOSPC" });
  assert.equal(contents(), OLD);
  assert.deepEqual(machine.names("/d"), ["file"]);
});

test("a temporary file left by a killed process does not block the next replacement", async () => {
  const { directory, machine } = await machineWithOld(1);
  directory.open("file.tmp", "new").write(Buffer.from("half a"));
  replaceFile(directory, "file", NEW);
  assert.equal(await readSmallFile(directory, "file"), NEW);
  assert.deepEqual(machine.names("/d"), ["file"]);
  assert.equal(await readSmallFile(directory, "nothing"), null);
});
