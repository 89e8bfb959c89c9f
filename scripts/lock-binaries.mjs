/**
 * Compiles native/lock.c for each machine, and writes what the package carries of it:
 * src/core/base/lock-binaries.ts, and native/checksums.txt for whoever wants to compare.
 *
 *     apt-get install gcc gcc-aarch64-linux-gnu    on x64; on arm64: gcc gcc-x86-64-linux-gnu
 *     node scripts/lock-binaries.mjs
 *
 * The same compiler and linker make the same bytes; test/lock-binaries.test.ts compares them.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** How Debian's names of the tools begin, on every machine. */
export const TOOLS = /** @type {const} */ ({ x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" });

/** @typedef {keyof typeof TOOLS} Architecture */

const ARCHITECTURES = /** @type {Architecture[]} */ (Object.keys(TOOLS));

const COMPILER_FLAGS = [
  "-shared",
  "-fPIC",
  "-Os",
  "-nostdlib",
  "-ffreestanding",
  "-fvisibility=hidden",
  "-fno-asynchronous-unwind-tables",
  "-fno-stack-protector",
  "-fno-ident",
  "-Wall",
  "-Wextra",
  "-Werror",
];
/** One page of 64 kB, which some arm64 machines have, would otherwise be empty in the file. */
const LINKER_FLAGS = ["--build-id=none", "--hash-style=gnu", "--strip-all"];
const LINKER_LAYOUT = ["noseparate-code", "norelro", "now"];

/** Which tools made a binary: others may make other bytes. @param {Architecture} architecture */
export function toolsOf(architecture) {
  const version = (/** @type {string} */ tool, /** @type {string} */ flag) =>
    execFileSync(`${TOOLS[architecture]}-${tool}`, [flag], { encoding: "utf8" }).split("\n")[0];
  const linker = version("ld", "--version")?.match(/[\d.]+$/)?.[0];
  return `gcc ${version("gcc", "-dumpfullversion")}, ld ${linker}`;
}

/** @param {Architecture} architecture */
export function compile(architecture) {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-lock-"));
  try {
    const output = join(folder, "lock.node");
    const linking = [...LINKER_FLAGS, ...LINKER_LAYOUT.flatMap((word) => ["-z", word])];
    const source = join(root, "native", "lock.c");
    const flags = [...COMPILER_FLAGS, `-Wl,${linking.join(",")}`, "-o", output, source];
    execFileSync(`${TOOLS[architecture]}-gcc`, flags);
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A line of native/checksums.txt. @param {Architecture} architecture @param {Buffer} binary */
export function checksumLine(architecture, binary) {
  const sum = createHash("sha256").update(binary).digest("hex");
  return `${sum}  linux-${architecture}, ${binary.length} bytes, ${toolsOf(architecture)}`;
}

/** @param {Map<Architecture, Buffer>} binaries */
function moduleText(binaries) {
  const fields = [...binaries].map(([architecture, binary]) => {
    const lines = binary.toString("base64").match(/.{1,96}/g) ?? [];
    return `  ${architecture}: \`\n${lines.join("\n")}\`,\n`;
  });
  return `/** Lock binaries: native/lock.c compiled, in base64. Written by scripts/lock-binaries.mjs. */

export const LOCK_BINARIES: Readonly<Record<string, string>> = {
${fields.join("")}};
`;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const binaries = new Map(
    ARCHITECTURES.map((architecture) => [architecture, compile(architecture)]),
  );
  writeFileSync(join(root, "src", "core", "base", "lock-binaries.ts"), moduleText(binaries));
  const sums = [...binaries].map(([architecture, binary]) => checksumLine(architecture, binary));
  writeFileSync(join(root, "native", "checksums.txt"), `${sums.join("\n")}\n`);
}
