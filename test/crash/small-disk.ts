/** A small disk: a tmpfs of a few hundred kilobytes, if the test may mount one. */

import { spawnSync } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempDirectory } from "../support/temp-directory.ts";

export const SMALL_DISK_BYTES = 512 * 1024;

export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Mounts one until the test is over, or returns why it cannot. */
  static mount(): SmallDisk | string {
    const path = tempDirectory();
    const options = `size=${SMALL_DISK_BYTES},mode=0700`;
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "verbatim-test", path]);
    if (mounted.status !== 0) {
      return mounted.error?.message ?? mounted.stderr.toString().trim();
    }
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
