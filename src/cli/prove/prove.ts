/** `verbatim redact prove`: proves that lines are part of a signed session, without the rest of it. */

import { resolve } from "node:path";
import { nodeHost } from "../../core/base/node-host.ts";
import { leafIndexDirectory, userPaths } from "../../core/base/node-paths.ts";
import type { ProofRequest } from "../../evidence/prove/assemble.ts";
import { PAGE_EXTENSION, proofPage } from "../../evidence/prove/proof-page.ts";
import { type Proven, proveCopy, proveLog } from "../../evidence/prove/prove.ts";
import { readOwnKeys, type Signer } from "../../trust/keys/keys.ts";
import { PROOF_EXTENSION } from "../../trust/proof/inclusion/records.ts";
import { Trust, transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import { type Run, textOption, textOptions, UsageError, wholeNumber } from "../command/command.ts";
import { jsonLine } from "../command/output.ts";
import { refuseLogPlace, writeNewFile } from "../command/output-file.ts";
import { countText } from "../serve/findings-report.ts";
import { withTarget } from "./redact.ts";
import { orVerdictCode } from "./verdict-code.ts";
import { isCopy } from "./verify-copies.ts";

export async function proveCommand(run: Run): Promise<number> {
  if (run.options.tlog === true) return (await import("./run-witness.ts")).proveTlog(run);
  return runProve(run);
}

const CONTEXT_MAX = 1000;

export async function runProve(run: Run): Promise<number> {
  const { options, io } = run;
  const request = askedOf(run);
  const output = textOption("--output", options.output);
  if (output === undefined) throw new UsageError("name the file to write with --output");
  await refuseLogPlace(resolve(output));
  const spell = formOf(output);
  return orVerdictCode(io, async () => {
    const proven = await makeProof(run, request);
    await writeNewFile(output, await spell(proven));
    const { verdict, lines, consistent } = proven.judgement;
    const parts = [
      ...(lines.length > 0 ? [countText(lines.length, "line")] : []),
      ...consistent.map(([from, to]) => `checkpoint ${to} continues checkpoint ${from}`),
    ];
    const report = { path: resolve(output), verdict, lines: lines.map(({ index }) => index + 1) };
    if (options.json) await io.print(jsonLine({ ...report, consistent }));
    else io.out(`${output}: ${verdict}: ${parts.join(", ")}`);
    return 0;
  });
}

/** How the proof is written, by the name of the file. */
function formOf(output: string): (proven: Proven) => Promise<Uint8Array> {
  if (output.endsWith(PROOF_EXTENSION)) return async ({ bytes }) => bytes;
  if (output.endsWith(PAGE_EXTENSION)) return async ({ bytes }) => proofPage(bytes);
  throw new UsageError(`the name of a proof ends in ${PROOF_EXTENSION} or ${PAGE_EXTENSION}`);
}

function askedOf({ options }: Run): ProofRequest {
  const entries = (textOptions("--entry", options.entry) ?? []).map((each) =>
    wholeNumber("--entry", each, 1),
  );
  const around = textOption("--context", options.context);
  const context = around === undefined ? 0 : wholeNumber("--context", around, 0);
  if (context > CONTEXT_MAX) throw new UsageError(`--context is at most ${CONTEXT_MAX}`);
  const pair = textOption("--consistency", options.consistency);
  const match = pair === undefined ? null : /^(\d{1,15})\.\.(\d{1,15})$/.exec(pair);
  if (pair !== undefined && !match) {
    throw new UsageError("--consistency takes two numbers of checkpoints, as in 3..9");
  }
  const consistency = match ? ([Number(match[1]), Number(match[2])] as const) : null;
  if (entries.length === 0 && !consistency) {
    throw new UsageError("say what to prove: --entry or --consistency");
  }
  return { entries, context, consistency };
}

async function makeProof(run: Run, request: ProofRequest): Promise<Proven> {
  const [name = ""] = run.args;
  const nowMs = Date.now;
  if (isCopy(name)) {
    const keys = transcriptKeys(await Trust.load(userPaths()), null);
    return proveCopy(nodeHost, resolve(name), request, { keys, signer: ownSigner(), nowMs });
  }
  return withTarget(run, async ({ host, log, verify }) => {
    let done = 0;
    const onProgress = (bytes: number) => {
      done += bytes;
      run.io.progress(`reading ${log.logId}: ${Math.floor(done / 1e6)} MB`);
    };
    try {
      const indexDirectory = leafIndexDirectory();
      const how = { verify, signer: ownSigner(), nowMs, indexDirectory, onProgress };
      return await proveLog(host, log, request, how);
    } finally {
      run.io.progress(null);
    }
  });
}

/** The user's current key, if there is one: a proof needs none. */
function ownSigner(): Signer | null {
  return readOwnKeys(userPaths()).find(({ state }) => state === "current")?.signer ?? null;
}
