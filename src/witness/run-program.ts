/**
 * Run program: runs openssl or git, without a shell, and with no more of the environment than it
 * needs. Output is limited.
 */

import { execFile } from "node:child_process";
import { VerbatimError } from "../base/errors.ts";

const TIMEOUT_MS = 30_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;
/** What git and openssl need to find the user and their settings. */
const PASSED_ON = [
  "PATH",
  "HOME",
  "LANG",
  "TZ",
  "XDG_CONFIG_HOME",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
];

export interface ProgramOptions {
  readonly input?: Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProgramResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Refuses with PROGRAM_FAILED if the program is missing, hangs or prints too much. */
export function runProgram(
  program: string,
  args: readonly string[],
  { input, env = {} }: ProgramOptions = {},
): Promise<ProgramResult> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const options = {
    ...{ encoding: "buffer" as const, timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX },
    env: { ...Object.fromEntries(passed), LC_ALL: "C", ...env },
  };
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === "number") {
        return resolve({ code, stdout, stderr: stderr.toString().trim() });
      }
      const reason = code === "ENOENT" ? "it is not installed" : String(code ?? "it was stopped");
      reject(programFailed(program, reason));
    });
    child.stdin?.on("error", () => {}); // It may end before it has read everything.
    child.stdin?.end(input);
  });
}

export function programFailed(program: string, reason: string): VerbatimError<"PROGRAM_FAILED"> {
  return new VerbatimError("PROGRAM_FAILED", `${program} failed: ${reason}`, { program, reason });
}
