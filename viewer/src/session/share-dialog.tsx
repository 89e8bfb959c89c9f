/** Share dialog: asks what to withhold and for how long, and shows the link once. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { NewShareItem } from "../../../src/client/share-shapes.ts";
import { reasonOf } from "../server.ts";
import { countText, fullTimeOf } from "../words.ts";
import { copyText } from "./copy.ts";

const EXPIRIES = [
  [3600, "one hour"],
  [86_400, "one day"],
  [604_800, "seven days"],
  [2_592_000, "30 days"],
] as const;

interface DialogProps {
  readonly client: VerbatimClient;
  readonly id: string;
  readonly close: () => void;
}

export function ShareDialog({ client, id, close }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [made, show] = useState<NewShareItem | null>(null);
  const [told, tell] = useState<string | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const ask = async (event: Event) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const lines = (name: string, mark: RegExp) =>
      String(given.get(name))
        .split(mark)
        .map((each) => each.trim())
        .filter(Boolean);
    const rules = lines("rules", /,/);
    const reason = String(given.get("reason")).trim();
    tell("Scanning, verifying and copying …");
    try {
      const share = await client.share({
        session: id,
        redact: rules.includes("none") ? [] : rules,
        match: lines("match", /\n/),
        ...(reason === "" ? {} : { reason }),
        expiresInSeconds: Number(given.get("expires")),
      });
      show(share);
      tell(null);
    } catch (cause) {
      tell(reasonOf(cause));
    }
  };
  return (
    <dialog ref={dialog} class="share-dialog" aria-labelledby="share-title" onClose={close}>
      <div class="dialog-body">
        <h2 id="share-title">Share part of this session</h2>
        {made === null ? <Form ask={ask} /> : <Made client={client} made={made} tell={tell} />}
        <p role="status">{told}</p>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function Form({ ask }: { readonly ask: (event: Event) => void }) {
  return (
    <form onSubmit={ask}>
      <p>
        Everyone with the link sees a copy of the signed lines. The rules miss things: look at what
        is shown before you send it.
      </p>
      <label>
        Withhold what these rules of scan find
        <input name="rules" defaultValue="default" />
        <small>Comma-separated; default: all rules, none: no rule</small>
      </label>
      <label>
        Withhold lines with one of these texts
        <textarea name="match" rows={2} spellcheck={false} />
        <small>One in each line</small>
      </label>
      <label>
        Reason, for readers
        <input name="reason" maxLength={2000} />
      </label>
      <label>
        The link expires in
        <select name="expires" defaultValue="86400">
          {EXPIRIES.map(([seconds, words]) => (
            <option key={seconds} value={seconds} selected={seconds === 86_400}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" class="primary">
        Make the link
      </button>
    </form>
  );
}

interface MadeProps {
  readonly client: VerbatimClient;
  readonly made: NewShareItem;
  readonly tell: (text: string) => void;
}

function Made({ client, made, tell }: MadeProps) {
  const link = `${location.href.split("#")[0]}#/share/${made.token}`;
  const copy = () => {
    copyText(link).then(
      () => tell("Copied"),
      () => tell("No clipboard: select the link and copy it"),
    );
  };
  const revoke = () => {
    client.revokeShare(made.id).then(
      () => tell("Revoked: the link shows nothing any more."),
      (cause) => tell(reasonOf(cause)),
    );
  };
  return (
    <>
      <p>
        It shows {made.full} of {countText(made.lines, "line")} in full, and withholds{" "}
        {countText(made.strings, "string")}, until {fullTimeOf(made.expiresAt)}.
      </p>
      <label>
        The link, which is shown only once
        <input
          class="mono"
          readOnly
          value={link}
          onFocus={(event) => event.currentTarget.select()}
        />
      </label>
      <div class="share-actions">
        <button type="button" class="primary" onClick={copy}>
          Copy
        </button>
        <a class="button" href={link} target="_blank" rel="noreferrer">
          Look at it
        </a>
        <button type="button" onClick={revoke}>
          Revoke
        </button>
      </div>
    </>
  );
}
