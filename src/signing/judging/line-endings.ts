/**
 * Line endings: distinguishes a log whose lines were converted to CRLF, by a checkout or an editor,
 * from other alterations. The verdict is `tampered` in both cases: the bytes differ.
 */

import type { OpenFile } from "../../base/files.ts";
import { readStretch } from "../../log/bytes.ts";
import { LF } from "../../proof/bytes.ts";
import type { VerifyReport } from "./report.ts";

const CR = 0x0d;
/** A conversion changes every line, so the first ones are enough. */
const LOOKED_AT_BYTES = 64 * 1024;

const MESSAGE =
  "the file's line endings were converted to CRLF, so that no signature fits; convert them back to " +
  "LF (a checkout by git: `* -text` in .gitattributes), and verify it again";

/** The report, with converted line endings as its first finding if that is what happened. */
export async function withLineEndings(
  report: VerifyReport,
  files: readonly OpenFile[],
): Promise<VerifyReport> {
  if (report.verdict !== "tampered") return report;
  let isConverted = false;
  for (const file of files) isConverted ||= await hasCrlf(file);
  if (!isConverted) return report;
  const { bad_range: bad } = report;
  const code = "LINE_ENDINGS_CONVERTED" as const;
  const said = {
    code,
    verdict: "tampered",
    byte_offset: null,
    turn: null,
    message: MESSAGE,
  } as const;
  return {
    ...report,
    bad_range: bad && { ...bad, turns: [] },
    findings: [said, ...report.findings],
  };
}

/** Whether every line at the beginning of a file ends in CRLF. */
async function hasCrlf(file: OpenFile): Promise<boolean> {
  const bytes = await readStretch(file, 0, Math.min(file.size(), LOOKED_AT_BYTES));
  let lines = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (at === 0 || bytes[at - 1] !== CR) return false;
    lines++;
  }
  return lines > 0;
}
