/**
 * The package as users get it: packed and installed into an empty folder, once per run. The first
 * test that needs it does so, the others wait; the run removes it (run.ts).
 *
 * The folder is outside of the repository, so that nothing is found in its `node_modules` by
 * accident, and on a disk: a file system in memory may be mounted noexec.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { lstat, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, inject } from "vitest";
import { packRelease } from "../../scripts/release/pack.mjs";
import { isBuilt } from "../../scripts/setup.mjs";
import { root } from "../public-api/doors.ts";
import { oncePerRun } from "./once-per-run.ts";

const execute = promisify(execFile);

export interface InstalledPackage {
  /** For a test's own files; `user` is below it. */
  readonly folder: string;
  /** A project whose `node_modules` has the package, and the frameworks that users have. */
  readonly user: string;
  /** The paths in the tarball. */
  readonly packed: readonly string[];
  /** Sizes of the tarball, of its files, and of all that its installation wrote to the disk. */
  readonly bytes: Readonly<Record<"packed" | "unpacked" | "installed", number>>;
  /** What npm printed while it installed. */
  readonly warnings: string;
}

export async function installedPackage(): Promise<InstalledPackage> {
  expect(isBuilt(), "dist is older than src: run `npm run build` first").toBe(true);
  return oncePerRun("package", (place) => {
    const folder = mkdtempSync(join(inject("diskDirectory"), "verbatim-package-"));
    writeFileSync(join(place, "directory"), folder);
    return packAndInstall(folder);
  });
}

const PEERS = [
  "ai",
  "@langchain/core",
  "@langchain/langgraph",
  "@langchain/langgraph-checkpoint",
  "@openai/agents-core",
  "pg",
  "zod",
];

async function packAndInstall(folder: string): Promise<InstalledPackage> {
  const user = join(folder, "user");
  await mkdir(user);
  // Packs what was built for the tests; a new build would replace it under other tests.
  const tarballs = await packRelease(folder, { isLocal: true });
  const [{ filename, files, size, unpackedSize } = expect.fail()] = tarballs;

  await writeFile(join(user, "package.json"), '{ "private": true, "type": "module" }\n');
  const options = ["--prefer-offline", "--no-audit", "--no-fund"];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: inject("certificates") };
  const install = ["install", ...options, join(folder, filename)];
  const { stderr: warnings } = await execute("npm", install, { cwd: user, env });
  const bytes = { packed: size, unpacked: unpackedSize, installed: await diskBytes(user) };
  await mkdir(join(user, "node_modules", "@types"), { recursive: true });
  const nodeTypes = join("node_modules", "@types", "node");
  await symlink(join(root, nodeTypes), join(user, nodeTypes));
  // Optional peers, and Zod for tools and schemas, which their users have installed.
  for (const peer of PEERS) {
    await mkdir(dirname(join(user, "node_modules", peer)), { recursive: true });
    await symlink(join(root, "node_modules", peer), join(user, "node_modules", peer));
  }
  return { folder, user, packed: files.map(({ path }) => path), bytes, warnings };
}

/** As `du` counts: every file and folder takes whole blocks. */
async function diskBytes(folder: string): Promise<number> {
  const paths = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    paths.map(async (path) => Math.ceil((await lstat(join(folder, path))).size / 4096) * 4096),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
