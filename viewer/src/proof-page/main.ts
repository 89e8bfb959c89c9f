/**
 * Proof page: a proof that judges itself in the browser, with the code that `verbatim verify` uses.
 * src/evidence/prove/proof-page.ts writes the page around it. Nothing is loaded, nothing is sent.
 */

import {
  fpOf as fpIn,
  type KeyAnswer,
  type Keys,
  kidOf,
  publicKeyFault,
} from "../../../src/trust/proof/ed25519-keys.ts";
import type { ProofJudgement } from "../../../src/trust/proof/inclusion/judge.ts";
import { judgeProofHere } from "../proof/judge-proof.ts";
import { WebProofCrypto } from "../proof/web-crypto.ts";

const crypto = new WebProofCrypto();
const proof = bytesOf(atob(textOf("verbatim-proof").trim()));

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** The reader's key, and no other, is trusted. */
function keysWith(publicKey: Uint8Array | null): Keys {
  const own = publicKey && kidOf(crypto, publicKey);
  const unknown = (kid: string | null, fp: string | null): KeyAnswer => {
    return { publicKey: null, kid, fp, owner: null, refusal: "KEY_UNKNOWN" };
  };
  return {
    byKid: (kid) => {
      if (!publicKey || kid !== own) return unknown(kid, null);
      return { publicKey, kid, fp: fpIn(crypto, publicKey), owner: "you", refusal: null };
    },
    byFp: (fp) => unknown(null, fp),
  };
}

/** A key as PEM, or its 32 bytes in hex or base64url; null if it is none of these. */
function keyIn(text: string): Uint8Array | null {
  const bare = text.replace(/-----[A-Z ]+-----/g, "").replace(/\s/g, "");
  const hex = /^[0-9a-f]{64}$/i.test(bare) ? (bare.match(/../g) ?? []) : null;
  if (hex) return Uint8Array.from(hex, (each) => Number.parseInt(each, 16));
  try {
    return bytesOf(atob(bare.replaceAll("-", "+").replaceAll("_", "/"))).slice(-32);
  } catch {
    return null;
  }
}

function element(name: string, text: string, className = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

const WORDS: Readonly<Record<string, string>> = {
  verified: "the lines below were signed by your key, at this place",
  untrusted: "enter the signer's public key to check who signed",
  incomplete: "signed by your key, with something missing",
  tampered: "this is not what was signed",
  unreadable: "this page cannot read the proof",
};

function show({ verdict, lines, consistent, session, keys, findings }: ProofJudgement): void {
  const state = document.getElementById("verdict");
  if (state) {
    state.textContent = `${verdict}: ${WORDS[verdict] ?? ""}`;
    state.className = verdict;
  }
  const kids = keys.map(({ kid }) => kid ?? "?").join(", ");
  document
    .getElementById("facts")
    ?.replaceChildren(
      element("p", `Session: ${session ?? "unknown"}`),
      element("p", `Signed by the key whose id (SHA-256) is: ${kids || "unknown"}`, "id"),
      ...findings.map(({ code, message }) => element("p", `${code}: ${message}`, "finding")),
    );
  const shown = lines.map(({ index, entry, turn, ts, bytes }) => {
    const made = element("section", "");
    const place = `Line ${index + 1}${turn === null ? "" : `, turn ${turn}`}, signed ${ts}`;
    const said = entry === null ? "context" : `entry ${entry}, as the prover says`;
    made.append(element("h2", `${place} (${said})`));
    made.append(element("pre", new TextDecoder().decode(bytes)));
    return made;
  });
  const pairs = consistent.map(([from, to]) =>
    element("p", `Checkpoint ${to} continues the log of checkpoint ${from}.`),
  );
  document.getElementById("lines")?.replaceChildren(...shown, ...pairs);
}

async function check(): Promise<void> {
  const field = document.getElementById("key");
  const text = field instanceof HTMLTextAreaElement ? field.value : "";
  const note = document.getElementById("note");
  const key = text.trim() === "" ? null : keyIn(text);
  const fault = key && publicKeyFault(key);
  const isBad = text.trim() !== "" && (!key || fault !== null);
  const cannot = (await crypto.canVerify()) ? "" : "This browser cannot check Ed25519 signatures.";
  if (note) note.textContent = isBad ? `Not a public key${fault ? `: ${fault}` : ""}.` : cannot;
  const keys = keysWith(isBad || cannot ? null : key);
  show(await judgeProofHere(crypto, proof, keys));
}

document.getElementById("check")?.addEventListener("click", () => void check());
document.getElementById("save")?.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([proof]));
  link.download = "proof.vbp";
  link.click();
});
void check();
