/**
 * Run: what is set up once for all tests of a run, and removed after them.
 *
 * Temporary directories are in memory if the system has space for them there: waiting for a disk
 * thousands of times is most of what some tests cost. Tests that kill processes or fill the disk use
 * one on a real disk (temp-directory.ts).
 */

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { missingPackages } from "./packages.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Next to node_modules, so that compiled programs find their packages. */
    readonly runDirectory: string;
    /** For temporary directories that must be on a disk. */
    readonly diskDirectory: string;
    /** NODE_EXTRA_CA_CERTS as this run got it, for the test that installs packages; or empty. */
    readonly certificates: string;
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const MEMORY = "/dev/shm";
/** Several times what all tests need at once. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;

export default function setUp(project: TestProject): () => void {
  process.stderr.write(missingPackages() ?? "");
  const directory = directoryOfRun(join(root, "node_modules"), ".test-run");
  const made = [directory];
  mkdirSync(join(directory, "programs", "made"), { recursive: true });
  copyFileSync(join(root, "package.json"), join(directory, "package.json"));
  project.provide("runDirectory", directory);
  project.provide("diskDirectory", tmpdir());
  project.provide("certificates", process.env.NODE_EXTRA_CA_CERTS ?? "");
  // Node 20 reads these and all built-in ones whenever it starts: 80 ms, for thousands of processes.
  delete process.env.NODE_EXTRA_CA_CERTS;
  process.env.VERBATIM_REMEMBER = "0"; // No test writes into the home directory of who runs it.
  if (hasRoomInMemory()) {
    const temporary = directoryOfRun(MEMORY, "verbatim-tests");
    chmodSync(temporary, 0o711); // Other users may traverse it, like /tmp.
    process.env.TMPDIR = temporary;
    made.push(temporary);
  }
  return () => {
    made.push(...stopPostgres(directory), ...installedPackage(directory));
    for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** Stops the database that tests share, if one needed it (postgres.ts). Returns its directory. */
function stopPostgres(directoryOfRun: string): readonly string[] {
  try {
    const place = readFileSync(join(directoryOfRun, "postgres", "directory"), "utf8");
    const [pid] = readFileSync(join(place, "data", "postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), "SIGQUIT");
    return [place];
  } catch {
    return []; // It was not started.
  }
}

/** The folder of the installed package, if a test needed it (installed-package.ts). */
function installedPackage(directoryOfRun: string): readonly string[] {
  try {
    return [readFileSync(join(directoryOfRun, "package", "directory"), "utf8")];
  } catch {
    return []; // It was not installed.
  }
}

/**
 * Creates a directory named after our process, and removes those of killed processes. The name has
 * one length: rows have paths, and tests choose cases by the number of a byte.
 */
function directoryOfRun(parent: string, name: string): string {
  for (const other of readdirSync(parent)) {
    const [, pid] = new RegExp(`^${name}-(\\d+)-\\w+$`).exec(other) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(parent, other), { recursive: true, force: true });
    } catch {
      // A killed test left a disk of its own mounted there. It only takes space.
    }
  }
  return mkdtempSync(join(parent, `${name}-${String(process.pid).padStart(7, "0")}-`));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    // Docker mounts it so, and native code for locks is loaded from the temporary directory.
    const isNoexec = / \/dev\/shm \S+ \S*\bnoexec\b/.test(readFileSync("/proc/mounts", "utf8"));
    return !isNoexec && bavail * bsize >= MEMORY_BYTES_MIN;
  } catch {
    return false; // There is no such directory.
  }
}
