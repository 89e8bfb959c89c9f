/**
 * Timestamp: time stamps of a checkpoint's line by an authority (RFC 3161), made and checked by
 * openssl. This project has no ASN.1 code.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { shortBody } from "./submit.ts";

const TIMEOUT_MS = 30_000;
const REPLY_BYTES_MAX = 256 * 1024;
const OUTPUT_BYTES_MAX = 1024 * 1024;
const OPENSSL = "openssl";

/** The authority's reply about this SHA-256, in hex; not checked yet, except that it was granted. */
export async function requestStamp(url: string, line: string): Promise<Uint8Array> {
  const query = await runOpenssl(["ts", "-query", "-digest", line, "-sha256", "-cert"]);
  if (query.code !== 0) throw opensslFailed(lastLine(query.stderr));
  let [status, bytes]: [number | null, Uint8Array] = [null, new Uint8Array(0)];
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/timestamp-query" },
      body: new Uint8Array(query.stdout),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    status = response.status;
    bytes = await shortBody(response, REPLY_BYTES_MAX);
  } catch (cause) {
    const why = (cause as { cause?: { code?: string } }).cause?.code ?? String(cause);
    throw failed(url, status, why);
  }
  if (status !== 200) throw failed(url, status, `it answered ${status}`);
  const scratch = mkdtempSync(join(tmpdir(), "verbatim-stamp-")); // openssl opens no socket.
  let text: string;
  try {
    writeFileSync(join(scratch, "reply"), bytes);
    text = await described(join(scratch, "reply"));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  if (!/^Status: Granted/m.test(text)) throw failed(url, status, "it did not grant a time stamp");
  return bytes;
}

export type StampCheck =
  | { readonly is: "valid"; readonly time: string }
  | { readonly is: "false" | "not checked"; readonly why: string };

/** Checks a reply against the certificates that the user names; null: none were named. */
export async function checkStamp(
  path: string,
  line: string,
  caFile: string | null,
): Promise<StampCheck> {
  if (caFile === null) return { is: "not checked", why: "give --tsa-ca and its certificates" };
  try {
    const args = ["ts", "-verify", "-digest", line, "-in", path, "-CAfile", caFile];
    const { code, stderr } = await runOpenssl(args);
    if (code !== 0) return { is: "false", why: lastLine(stderr) };
    const text = await described(path);
    return { is: "valid", time: /^Time stamp: (.+)$/m.exec(text)?.[1] ?? "an unknown time" };
  } catch (cause) {
    return { is: "not checked", why: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** What openssl prints of a reply. */
async function described(path: string): Promise<string> {
  const { stdout } = await runOpenssl(["ts", "-reply", "-in", path, "-text"]);
  return stdout.toString("latin1");
}

function failed(url: string, status: number | null, why: string): VerbatimError {
  return new VerbatimError("WITNESS_FAILED", `the authority at ${url} gave no time stamp: ${why}`, {
    url,
    status,
  });
}

function lastLine(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? "it says nothing";
}

/** What openssl needs to find its settings. */
const PASSED_ON = ["PATH", "HOME", "LANG", "TZ", "SSL_CERT_DIR", "SSL_CERT_FILE"];

interface ProgramResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs openssl, without a shell, and with no more of the environment than it needs. Refuses with
 * PROGRAM_FAILED if it is missing, hangs or prints too much.
 */
function runOpenssl(args: readonly string[]): Promise<ProgramResult> {
  const env: Record<string, string> = { LC_ALL: "C" };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const options = {
    encoding: "buffer" as const,
    timeout: TIMEOUT_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
    env,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(OPENSSL, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === "number") {
        return resolve({ code, stdout, stderr: stderr.toString().trim() });
      }
      reject(
        opensslFailed(code === "ENOENT" ? "it is not installed" : String(code ?? "it was stopped")),
      );
    });
    child.stdin?.on("error", () => {}); // It may end before it has read everything.
    child.stdin?.end();
  });
}

function opensslFailed(reason: string): VerbatimError<"PROGRAM_FAILED"> {
  const details = { program: OPENSSL, reason };
  return new VerbatimError("PROGRAM_FAILED", `${OPENSSL} failed: ${reason}`, details);
}
