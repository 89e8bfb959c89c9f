/** docs/formats/witness.md: its examples are what the code writes and reads. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { AdmittedLogs } from "../../src/evidence/witness/witness.ts";
import { readWitnesses } from "../../src/evidence/witness/witness-list.ts";
import { nodeCrypto as crypto } from "../../src/trust/keys/node-crypto.ts";
import { readNote, readVerifierKey, signedBy } from "../../src/trust/proof/tlog/note.ts";
import { partsOfOrigin, readHeadLine, readTreeHead } from "../../src/trust/proof/tlog/tree-head.ts";
import { docsPage } from "../support/docs-page.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { cosignedAt, sha256 } from "../support/tlog.ts";

const page = docsPage("formats/witness");
const text = (block: string) => `${page.lines(block).join("\n")}\n`;

test("the note is of the worked example, signed by the log and cosigned by the witness", () => {
  const raw = text("text note");
  const note = readNote(raw);
  const head = note && readTreeHead(note.body);
  assert.ok(note && head);
  const [logKey = "", witnessKey = ""] = page.lines("text keys");
  const log = readVerifierKey(crypto, logKey, "log").key;
  const witness = readVerifierKey(crypto, witnessKey, "witness").key;
  assert.ok(log && witness);
  assert.equal(signedBy(crypto, note, { ...log, name: head.origin }).is, "valid");
  const signed = signedBy(crypto, note, witness);
  assert.ok(signed.is === "valid");
  assert.equal(cosignedAt(note.body, signed.line, witnessKey), BigInt(signed.time ?? 0));
  assert.equal(partsOfOrigin(head.origin)?.name, log.name);

  const last = docsPage("formats/checkpoint").lines("jsonl rye-flat").at(-1) ?? "";
  const { log: id, seq, tree } = JSON.parse(last).payload;
  assert.equal(partsOfOrigin(head.origin)?.log, id);
  assert.deepEqual(readHeadLine(head), { seq, line: sha256(`${last}\n`).toString("hex") });
  const root = Buffer.from(head.root).toString("hex");
  assert.deepEqual({ size: head.size, root }, tree);
});

test("both lists are read", () => {
  const home = tempDirectory();
  const put = (name: string, content: string) => {
    writeFileSync(join(home, name), content, { mode: 0o600 });
    return join(home, name);
  };
  const admitted = new AdmittedLogs(put("logs", text("text list")));
  assert.equal(admitted.name, "witness.example/w1");
  assert.equal(admitted.keysOf("ada.example/72cd6e8422c407fb6d098690f1130b7d").length, 1);
  put("witnesses", text("text witnesses"));
  const [known] = readWitnesses({ trustPath: join(home, "trust.json") });
  assert.equal(known?.url, "https://witness.example/witness");
});
