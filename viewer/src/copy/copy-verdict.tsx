/** Copy verdict: what this browser found, under which keys, and what no reader can check. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import type { KeyAnswer } from "../../../src/trust/proof/ed25519-keys.ts";
import type { Finding, Verdict } from "../../../src/trust/proof/verdict.ts";
import { TONES, trustWords, VERDICT_WORDS } from "../proof/proof-words.ts";
import { countText, fullTimeOf } from "../words.ts";
import { enteredKeys, enterKey, forgetKeys } from "./entered-keys.ts";
import type { JudgedCopy } from "./judge-copy.ts";
import { VerdictChip } from "./verdict-chip.tsx";
import { WithheldReasons } from "./withheld.tsx";

const SENTENCES = {
  verified: "Every line that is shown was in the log at its place when it was signed.",
  tampered: "This copy is not part of what was signed. Do not rely on anything in it.",
};

/** "verified in part: 41 of 45 lines in full, 3 strings withheld". */
export function verdictLine({ disclosed: { verdict, counts } }: JudgedCopy): string {
  const { lines, full, strings } = counts;
  const amount = `${full} of ${lines} lines in full, ${countText(strings, "string")} withheld`;
  const word = verdict === "verified" ? "verified in part" : VERDICT_WORDS[verdict];
  return verdict === "tampered" || verdict === "unreadable" ? word : `${word}: ${amount}`;
}

export function CopyVerdict({ judged }: { readonly judged: JudgedCopy }) {
  const { disclosed, notChecked, canVerify } = judged;
  const { verdict, judge, statement, redactor, findings } = disclosed;
  const isSound = verdict !== "tampered" && verdict !== "unreadable";
  const isUnconfirmed = findings.some(({ code }) => code === "GENESIS_UNCONFIRMED");
  return (
    <VerdictPanel
      verdict={verdict}
      text={verdictLine(judged)}
      findings={findings}
      keys={judge.keys}
      used={[...judge.keys, redactor]}
      canVerify={canVerify}
      sentences={SENTENCES}
    >
      {statement !== null && redactor !== null && (
        <>
          <dt>Disclosed by</dt>
          <dd>
            <KeyLine answer={redactor} />
            <time dateTime={statement.ts}>{fullTimeOf(statement.ts)}</time>, by their clock
          </dd>
        </>
      )}
      {isSound && statement !== null && <Facts judged={judged} />}
      <dt>Cannot be checked</dt>
      <dd>
        {notChecked.join("; ")}
        {isUnconfirmed && "; how the log began, which is the redactor's word"}
        <small>
          Nor whether the log continued after this copy: only a head that you pinned earlier can
          tell. Reasons and other wording are the redactor's. A selection of true lines can mislead.
        </small>
      </dd>
    </VerdictPanel>
  );
}

interface PanelProps {
  readonly verdict: Verdict;
  readonly text: string;
  readonly sentences: Readonly<Record<"verified" | "tampered", string>>;
  readonly findings: readonly Finding[];
  /** The signer's keys. */
  readonly keys: readonly KeyAnswer[];
  /** All keys that signed something here. */
  readonly used: readonly (KeyAnswer | null)[];
  readonly canVerify: boolean;
  readonly children: ComponentChildren;
}

/** What a verdict on a file rests on, behind its chip. */
export function VerdictPanel(props: PanelProps) {
  const { verdict, text, findings, keys, canVerify } = props;
  const sentences: Readonly<Partial<Record<Verdict, string>>> = {
    unreadable: "No verdict was reached: it is too long, or of a newer version.",
    untrusted:
      "Nothing says that it was changed. Whether the right person signed it, only their key can tell.",
    incomplete: "What is signed is valid. Some of it was unsigned when its signer found it.",
    ...props.sentences,
  };
  const reasons = verdict === "verified" ? [] : findings.filter((each) => each.verdict === verdict);
  return (
    <VerdictChip tone={TONES[verdict]} text={text}>
      <p>{sentences[verdict]}</p>
      {reasons.length > 0 && (
        <ul class="copy-findings">
          {reasons.map(({ code, message }, n) => (
            <li key={n}>
              {pageText(message)} <small>{code}</small>
            </li>
          ))}
        </ul>
      )}
      {!canVerify && <p role="alert">This browser cannot check Ed25519 signatures on this page.</p>}
      <dl>
        <dt>Signed by</dt>
        <dd>
          {keys.map((key) => (
            <KeyLine key={key.kid ?? ""} answer={key} />
          ))}
        </dd>
        {props.children}
      </dl>
      <KeyForm used={props.used} />
    </VerdictChip>
  );
}

function Facts({ judged }: { readonly judged: JudgedCopy }) {
  const { statement } = judged.disclosed;
  const { withheld = [], leftOut = { lines: 0, bytes: 0 } } = statement ?? {};
  return (
    <>
      <dt>Withheld</dt>
      <dd>
        <WithheldReasons withheld={withheld} />
      </dd>
      {leftOut.bytes > 0 && (
        <>
          <dt>Left out</dt>
          <dd>{countText(leftOut.lines, "line")} at the end, as the redactor says</dd>
        </>
      )}
    </>
  );
}

export function KeyLine({ answer: { kid, refusal, rotatedFrom } }: { readonly answer: KeyAnswer }) {
  const trust = refusal === null ? "the key you entered" : trustWords(refusal);
  const words = refusal === "KEY_UNKNOWN" ? "not entered yet" : trust;
  return (
    <div>
      <code>{pageText(kid ?? "an unknown key")}</code>,{" "}
      {rotatedFrom === undefined ? words : "named by the key you entered"}
    </div>
  );
}

/** The reader enters the signer's public key; it counts for everything that is opened here. */
function KeyForm(props: { readonly used: readonly (KeyAnswer | null)[] }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [told, tell] = useState<string | null>(null);
  const used = new Set(props.used.map((key) => key?.kid ?? ""));
  const take = (text: string) => {
    const entered = enterKey(text);
    if ("fault" in entered) return tell(entered.fault);
    const is = used.has(entered.kid) ? "This key signed here." : "This key signed nothing here.";
    tell(`${is} Its id is ${entered.kid}.`);
    if (field.current) field.current.value = "";
  };
  const submit = (event: Event) => {
    event.preventDefault();
    take(field.current?.value ?? "");
  };
  const read = async ({ currentTarget }: Event) => {
    const [file] = (currentTarget as HTMLInputElement).files ?? [];
    if (file) take(file.size > 16_384 ? "" : await file.text());
  };
  const count = enteredKeys.value.size;
  return (
    <form class="copy-key" onSubmit={submit}>
      <label for="copy-key">Public key of the signer</label>
      <p id="copy-key-note">
        Get it from the signer in another way than this file: with the file, it proves nothing.
      </p>
      <textarea
        ref={field}
        id="copy-key"
        rows={3}
        spellcheck={false}
        aria-describedby="copy-key-note"
        placeholder="-----BEGIN PUBLIC KEY-----"
      />
      <div class="copy-actions">
        <button type="submit" class="primary">
          Use this key
        </button>
        <label class="button">
          Choose its file
          <input type="file" class="unseen" accept=".pem,.pub,text/plain" onChange={read} />
        </label>
        {count > 0 && (
          <button type="button" onClick={forgetKeys}>
            Forget {countText(count, "key")}
          </button>
        )}
      </div>
      <p role="status">{told}</p>
    </form>
  );
}
