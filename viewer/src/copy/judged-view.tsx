/** Judged view: a file that shows part of a session, judged in this browser: its verdict and what it shows. */

import { useEffect, useState } from "preact/hooks";
import type { MaskedCopy } from "../../../src/client/masked-copy.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { MAGIC_BYTES } from "../../../src/trust/proof/disclosure/copy-file.ts";
import type { ProofJudgement } from "../../../src/trust/proof/inclusion/judge.ts";
import { beginsAsProof, PROOF_BYTES_MAX } from "../../../src/trust/proof/inclusion/records.ts";
import { judgeProofHere } from "../proof/judge-proof.ts";
import { WebProofCrypto } from "../proof/web-crypto.ts";
import { reasonOf } from "../server.ts";
import { saveAs } from "../session/export.ts";
import { sizeOf } from "../words.ts";
import { Conversation, type CopyEntry } from "./conversation.tsx";
import { copyEntries } from "./copy-entries.ts";
import { CopyLine } from "./copy-line.tsx";
import { CopyVerdict } from "./copy-verdict.tsx";
import { enteredKeys } from "./entered-keys.ts";
import { type JudgedCopy, judgeCopy, TrustedKeys } from "./judge-copy.ts";
import { isMaskedCopy, readMaskedCopy } from "./masked-copy.ts";
import { MaskedView } from "./masked-view.tsx";
import { ProofView } from "./proof-view.tsx";
import "../proof/proof.css";
import "./copy.css";

const LINES_SHOWN = 200;
const UNSOUND = "This copy is not part of what was signed. Do not rely on anything in it.";

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
      (cause) => isOver || fail(reasonOf(cause)),
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
  if (judged.is === "proof") {
    return <ProofView judged={judged.proof} canVerify={judged.canVerify} />;
  }
  return (
    <>
      <CopyVerdict judged={judged} />
      <CopyView judged={judged} />
    </>
  );
}

type Entries = readonly CopyEntry[] | null;

type JudgedFile =
  | { readonly is: "masked"; readonly copy: MaskedCopy }
  | ({ readonly is: "copy"; readonly entries: Entries } & JudgedCopy)
  | { readonly is: "proof"; readonly proof: ProofJudgement; readonly canVerify: boolean };

async function judgeFile(file: Blob, keys: ReadonlyMap<string, Uint8Array>): Promise<JudgedFile> {
  if (await isMaskedCopy(file)) return { is: "masked", copy: await readMaskedCopy(file) };
  const begin = new Uint8Array(await file.slice(0, MAGIC_BYTES).arrayBuffer());
  if (!beginsAsProof(begin)) {
    const copy = await judgeCopy(file, keys);
    const entries = await copyEntries(copy.disclosed.header?.dialect ?? "", copy.rows);
    return { is: "copy", entries, ...copy };
  }
  const crypto = new WebProofCrypto();
  const canVerify = await crypto.canVerify();
  const trusted = new TrustedKeys(crypto, canVerify ? keys : new Map());
  const bytes = new Uint8Array(await file.slice(0, PROOF_BYTES_MAX + 1).arrayBuffer());
  const proof = await judgeProofHere(crypto, bytes, trusted.keys);
  return { is: "proof", proof, canVerify };
}

/** The conversation; every line of the log, with its checkpoints and bytes, is folded below it. */
function CopyView({ judged }: { readonly judged: JudgedCopy & { readonly entries: Entries } }) {
  const { disclosed, entries } = judged;
  const [isUnfolded, unfold] = useState(entries === null);
  const reasons = disclosed.statement?.withheld ?? [];
  const isSound = disclosed.verdict !== "tampered" && disclosed.verdict !== "unreadable";
  const title = isSound ? "Lines, as they were signed" : "Lines, of which nothing is proven";
  return (
    <section aria-label="Conversation" class={isSound ? "" : "copy-unsound"}>
      {!isSound && <p class="copy-warning">{UNSOUND}</p>}
      {entries !== null && <Conversation entries={entries} reasons={reasons} />}
      <details
        class="copy-all-lines"
        open={isUnfolded}
        onToggle={({ currentTarget }) => unfold(currentTarget.open)}
      >
        <summary>{title}</summary>
        {isUnfolded && <Lines judged={judged} />}
      </details>
    </section>
  );
}

function Lines({ judged: { rows, disclosed } }: { readonly judged: JudgedCopy }) {
  const [count, show] = useState(LINES_SHOWN);
  const reasons = disclosed.statement?.withheld ?? [];
  return (
    <>
      <ol class="copy-lines">
        {rows.slice(0, count).map((row, n) => (
          <CopyLine key={n} row={row} reasons={reasons} />
        ))}
      </ol>
      {rows.length > count && (
        <button type="button" onClick={() => show(count + LINES_SHOWN)}>
          Show more: {rows.length - count} left
        </button>
      )}
    </>
  );
}
