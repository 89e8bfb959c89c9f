/** Judged view: a file that shows part of a session, judged in this browser: its verdict and what it shows. */

import { useEffect, useState } from "preact/hooks";
import type { MaskedCopy } from "../../../src/client/masked-copy.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { MAGIC_BYTES } from "../../../src/trust/proof/disclosure/copy-file.ts";
import type { ProofJudgement } from "../../../src/trust/proof/inclusion/judge.ts";
import { beginsAsProof, PROOF_BYTES_MAX } from "../../../src/trust/proof/inclusion/records.ts";
import { faultText } from "../fault-text.ts";
import { judgeProofHere } from "../proof/judge-proof.ts";
import { WebProofCrypto } from "../proof/web-crypto.ts";
import { saveAs } from "../session/export.ts";
import { sizeOf } from "../words.ts";
import type { CopyEntry } from "./conversation.tsx";
import { copyEntries } from "./copy-entries.ts";
import { CopyVerdict } from "./copy-verdict.tsx";
import { enteredKeys } from "./entered-keys.ts";
import { type CopyRow, type JudgedCopy, judgeCopy, TrustedKeys } from "./judge-copy.ts";
import { isMaskedCopy, readMaskedCopy } from "./masked-copy.ts";
import { MaskedView } from "./masked-view.tsx";
import { ProofVerdict, provenRows } from "./proof-view.tsx";
import { SignedLines } from "./signed-lines.tsx";
import "../proof/proof.css";
import "./copy.css";

export interface OpenedCopy {
  readonly name: string;
  readonly copy: Blob;
  /** It is not shared yet: its owner sees what is withheld, and no way to save it. */
  readonly isPreview?: boolean;
}

export function JudgedView({ name, copy, isPreview = false }: OpenedCopy) {
  const [judged, show] = useState<JudgedFile | null>(null);
  const [fault, fail] = useState<string | null>(null);
  const keys = enteredKeys.value;
  useEffect(() => {
    let isOver = false;
    judgeFile(copy, keys).then(
      (each) => {
        if (isOver) return;
        show(each);
        fail(null);
      },
      (cause) => isOver || fail(faultText(cause)),
    );
    return () => {
      isOver = true;
    };
  }, [copy, keys]);
  if (fault !== null) return <p role="alert">The file cannot be read: {fault}</p>;
  if (judged === null) return <p role="status">Checking {sizeOf(copy.size)} …</p>;
  return (
    <article>
      {isPreview ? <Finds judged={judged} /> : <Head judged={judged} name={name} copy={copy} />}
      <View judged={judged} />
    </article>
  );
}

function Head({ judged, name, copy }: OpenedCopy & { readonly judged: JudgedFile }) {
  if (judged.is === "masked") {
    return (
      <header class="copy-head">
        <h1>A session, masked</h1>
      </header>
    );
  }
  const { session } = judged.is === "copy" ? judged.disclosed.judge : judged.proof;
  return (
    <header class="copy-head">
      <h1>{pageText(session ?? name)}</h1>
      <p>
        Part of a session, as {pageText(name)}, {sizeOf(copy.size)}
      </p>
      <button
        type="button"
        onClick={() => saveAs(name, [copy], "application/octet-stream")}
        title="Then check it with: verbatim verify FILE --key KEY.pem"
      >
        Download it for your own verifier
      </button>
    </header>
  );
}

/** For the owner: how much each rule found. */
function Finds({ judged }: { readonly judged: JudgedFile }) {
  if (judged.is === "proof") return null;
  const withheld =
    judged.is === "masked" ? judged.copy.withheld : (judged.disclosed.statement?.withheld ?? []);
  const counts = withheld.map(({ rule, lines, strings }) => `${rule} ${lines + strings}`);
  return (
    <p class="copy-finds">
      {counts.length === 0 ? "Nothing is withheld." : `Withheld: ${pageText(counts.join(", "))}.`}
    </p>
  );
}

function View({ judged }: { readonly judged: JudgedFile }) {
  if (judged.is === "masked") return <MaskedView copy={judged.copy} />;
  const { verdict } = judged.is === "copy" ? judged.disclosed : judged.proof;
  const reasons = judged.is === "copy" ? (judged.disclosed.statement?.withheld ?? []) : [];
  return (
    <>
      {judged.is === "copy" && <CopyVerdict judged={judged} />}
      {judged.is === "proof" && <ProofVerdict judged={judged.proof} canVerify={judged.canVerify} />}
      <SignedLines verdict={verdict} reasons={reasons} {...judged} />
    </>
  );
}

interface ReadLines {
  readonly rows: readonly CopyRow[];
  readonly entries: readonly CopyEntry[] | null;
}

type JudgedFile =
  | { readonly is: "masked"; readonly copy: MaskedCopy }
  | ({ readonly is: "copy" } & JudgedCopy & ReadLines)
  | ({
      readonly is: "proof";
      readonly proof: ProofJudgement;
      readonly canVerify: boolean;
    } & ReadLines);

async function judgeFile(file: Blob, keys: ReadonlyMap<string, Uint8Array>): Promise<JudgedFile> {
  if (await isMaskedCopy(file)) return { is: "masked", copy: await readMaskedCopy(file) };
  const begin = new Uint8Array(await file.slice(0, MAGIC_BYTES).arrayBuffer());
  if (!beginsAsProof(begin)) {
    const copy = await judgeCopy(file, keys);
    const entries = await copyEntries(copy.disclosed.header, copy.rows);
    return { is: "copy", entries, ...copy };
  }
  const crypto = new WebProofCrypto();
  const canVerify = await crypto.canVerify();
  const trusted = new TrustedKeys(crypto, canVerify ? keys : new Map());
  const bytes = new Uint8Array(await file.slice(0, PROOF_BYTES_MAX + 1).arrayBuffer());
  const proof = await judgeProofHere(crypto, bytes, trusted.keys);
  const rows = provenRows(proof);
  return { is: "proof", proof, canVerify, rows, entries: await copyEntries(proof.header, rows) };
}
