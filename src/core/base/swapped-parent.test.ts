/**
 * A parent that another process swaps for a symbolic link, over and over, while files are opened
 * below it. At no moment is anything behind the link read or written.
 */

import assert from "node:assert/strict";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { onTestFinished, test } from "vitest";
import { openDescriptorsBelow } from "../../../test/support/open-descriptors.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { Files } from "./files.ts";
import { createNodeFiles } from "./node-files.ts";

const OPENINGS = 450;

/** Moves `parent` away, puts a link to `victim` in its place, then a new directory. */
const SWAPPER = `
  const { workerData: { parent, attic, victim } } = require("node:worker_threads");
  const { renameSync, symlinkSync, unlinkSync, mkdirSync } = require("node:fs");
  const tries = (step) => { try { step(); } catch {} };
  for (let n = 0; ; n++) {
    tries(() => renameSync(parent, attic + "/" + n));
    tries(() => symlinkSync(victim, parent));
    tries(() => unlinkSync(parent));
    tries(() => mkdirSync(parent + "/sub", { recursive: true }));
  }
`;

interface Outcome {
  /** Openings that succeeded; each file got one line. */
  readonly opened: number;
  /** Openings that were refused, by the error's code. */
  readonly refused: ReadonlyMap<string, number>;
}

test("by descriptor, a parent swapped for a link is never followed: nothing is made behind it", async () => {
  const { root, victim } = scene();
  const outcome = await openWhileSwapped(createNodeFiles({ byDescriptor: true }), root, victim);

  assert.deepEqual(readdirSync(victim, { recursive: true }).sort(), ["sub", "sub/secret"]);
  isUnharmed(root, victim, outcome);
});

test("by path, a parent swapped for a link is noticed: nothing behind it is read or written", async () => {
  // A file may be created behind the link before the swap is noticed; it stays empty.
  const { root, victim } = scene();
  const outcome = await openWhileSwapped(createNodeFiles({ byDescriptor: false }), root, victim);

  isUnharmed(root, victim, outcome);
});

function scene(): { root: string; victim: string } {
  const [root, victim] = [tempDirectory(), tempDirectory()];
  mkdirSync(join(root, "attic"));
  mkdirSync(join(root, "parent/sub"), { recursive: true });
  mkdirSync(join(victim, "sub"));
  writeFileSync(join(victim, "sub/secret"), "secret");
  return { root, victim };
}

async function openWhileSwapped(files: Files, root: string, victim: string): Promise<Outcome> {
  const parent = join(root, "parent");
  const worker = new Worker(SWAPPER, {
    eval: true,
    workerData: { parent, attic: join(root, "attic"), victim },
  });
  onTestFinished(() => void worker.terminate());
  await new Promise((resolve) => worker.once("online", resolve));

  let opened = 0;
  const refused = new Map<string, number>();
  for (let n = 0; n < OPENINGS; n++) {
    // "secret" exists only behind the link, so it must never open; "log" must open inside only.
    const name = n % 3 === 0 ? "secret" : "log";
    try {
      const directory = await files.openDirectory(join(parent, "sub"), { create: true, root });
      try {
        const file = directory.open(name, name === "secret" ? "read" : "append");
        assert.equal(name, "log", "the secret was opened");
        file.write(Buffer.from("line\n"));
        file.close();
        opened++;
      } finally {
        directory.close();
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      const code = String((error as { code?: unknown }).code);
      refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  }
  await worker.terminate();
  if (lstatSync(parent, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(parent);
  return { opened, refused };
}

function isUnharmed(root: string, victim: string, { opened, refused }: Outcome): void {
  const story = `${opened} opened, refused: ${JSON.stringify([...refused])}`;
  assert.equal(readFileSync(join(victim, "sub/secret"), "utf8"), "secret", story);
  assert.equal(bytesBelow(victim), "secret".length, story);
  assert.equal(bytesBelow(root), opened * "line\n".length, story);
  assert.deepEqual(openDescriptorsBelow(root), [], story);
  assert.deepEqual(openDescriptorsBelow(victim), [], story);
}

function bytesBelow(path: string): number {
  return readdirSync(path, { recursive: true })
    .map((name) => statSync(join(path, String(name)), { throwIfNoEntry: false }))
    .reduce((sum, stat) => sum + (stat?.isFile() ? stat.size : 0), 0);
}
