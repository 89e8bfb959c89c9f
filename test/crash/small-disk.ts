/** A small disk: a tmpfs of a few hundred kilobytes, if the test may mount one. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempDirectory } from "../support/temp-directory.ts";
import { testWhere } from "../support/test-where.ts";

export const SMALL_DISK_BYTES = 512 * 1024;

/** Why no disk can be mounted; null if it can. */
export const mountFault = probe();

/** A test that mounts a disk. Not declared where that is not possible. */
export const diskTest = testWhere(mountFault === null);

function probe(): string | null {
  const path = mkdtempSync(join(tmpdir(), "verbatim-disk-"));
  const fault = mountAt(path);
  if (fault === null) spawnSync("umount", [path]);
  rmdirSync(path);
  return fault;
}

function mountAt(path: string): string | null {
  const options = `size=${SMALL_DISK_BYTES},mode=0700`;
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "verbatim-test", path]);
  if (mounted.status === 0) return null;
  return mounted.error?.message ?? mounted.stderr.toString().trim();
}

export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Mounts one until the test is over. */
  static mount(): SmallDisk {
    const path = tempDirectory();
    const fault = mountAt(path);
    if (fault !== null) throw new Error(`no disk can be mounted: ${fault}`);
    onTestFinished(() => {
      spawnSync("umount", ["--lazy", path]);
    });
    return new SmallDisk(path);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Fills the disk except for `leave` bytes. */
  fill(leave = 0): void {
    this.empty();
    writeFileSync(this.#filler, Buffer.alloc(this.freeBytes - leave));
  }

  /** Frees that space again. */
  empty(): void {
    rmSync(this.#filler, { force: true });
  }

  get #filler(): string {
    return join(this.path, "filler");
  }
}
