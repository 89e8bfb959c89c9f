/** Share dialog: asks what to withhold, shows what others will see, then makes the link and shows it once. */

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionHead } from "../../../src/client/session-shapes.ts";
import type { NewShareItem, ShareRequest } from "../../../src/client/share-shapes.ts";
import { faultText } from "../fault-text.ts";
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
  readonly head: SessionHead;
  readonly close: () => void;
}

/** What is asked for, and the copy that it would share. */
interface SharePreview {
  readonly request: ShareRequest;
  readonly copy: Blob;
}

export function ShareDialog({ client, head, close }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [preview, look] = useState<SharePreview | null>(null);
  const [made, show] = useState<NewShareItem | null>(null);
  const [told, tell] = useState<string | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const run = (what: string, work: () => Promise<void>) => {
    tell(what);
    work().then(
      () => tell(null),
      (cause) => tell(faultText(cause)),
    );
  };
  const ask = (event: Event) => {
    event.preventDefault();
    const request = requestIn(event.currentTarget as HTMLFormElement, head.id);
    run("Scanning, verifying and copying …", async () => {
      look({ request, copy: new Blob([(await client.previewShare(request)) as BlobPart]) });
    });
  };
  const create = ({ request }: SharePreview) => {
    run("Making the link …", async () => show(await client.share(request)));
  };
  return (
    <dialog
      ref={dialog}
      class={preview === null || made !== null ? "share-dialog" : "share-dialog share-wide"}
      aria-labelledby="share-title"
      onClose={close}
    >
      <div class="dialog-body">
        <h2 id="share-title">{preview === null ? "Share this session" : TITLES[made ? 1 : 0]}</h2>
        <Form ask={ask} head={head} isHidden={preview !== null} />
        {preview !== null && made === null && (
          <Preview preview={preview} back={() => look(null)} create={() => create(preview)} />
        )}
        {made !== null && <Made client={client} made={made} tell={tell} />}
        <p role="status">{told}</p>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

const TITLES = ["What the other person will see", "The link"] as const;

function requestIn(form: HTMLFormElement, session: string): ShareRequest {
  const given = new FormData(form);
  const lines = (name: string, mark: RegExp) =>
    String(given.get(name))
      .split(mark)
      .map((each) => each.trim())
      .filter(Boolean);
  const rules = lines("rules", /,/);
  const reason = String(given.get("reason")).trim();
  return {
    session,
    redact: rules.includes("none") ? [] : rules,
    match: lines("match", /\n/),
    ...(reason === "" ? {} : { reason }),
    expiresInSeconds: Number(given.get("expires")),
  };
}

type ViewOfCopy = ComponentType<{ name: string; copy: Blob; isPreview: boolean }>;

interface PreviewProps {
  readonly preview: SharePreview;
  readonly back: () => void;
  readonly create: () => void;
}

/** The copy as the reader's page shows it, by the same code. */
function Preview({ preview: { copy }, back, create }: PreviewProps) {
  const [View, load] = useState<ViewOfCopy | null>(null);
  useEffect(() => {
    void import("../copy/judged-view.tsx").then(({ JudgedView }) => load(() => JudgedView));
  }, []);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrollable by keys. */}
      <section class="share-preview copy-page" tabIndex={0} aria-label="Preview">
        {View === null ? "Loading …" : <View name="preview" copy={copy} isPreview={true} />}
      </section>
      <div class="share-actions">
        <button type="button" class="primary" onClick={create}>
          Create link
        </button>
        <button type="button" onClick={back}>
          Back
        </button>
      </div>
    </>
  );
}

interface FormProps {
  readonly ask: (event: Event) => void;
  readonly head: SessionHead;
  /** The preview is shown; the choices are kept. */
  readonly isHidden: boolean;
}

function Form({ ask, head, isHidden }: FormProps) {
  return (
    <form onSubmit={ask} hidden={isHidden}>
      <p>
        Everyone with the link sees a copy. The rules miss things: look at the preview before you
        make the link.
      </p>
      <p>
        If the session is not signed, the copy is masked and marked as not provable.{" "}
        {head.program === null ? (
          <>
            You can sign it first: <code>verbatim doctor --fix --vouch {head.session}</code>
          </>
        ) : (
          <>
            <code>verbatim guard --sign</code> signs copies of {head.agentLabel}'s sessions from now
            on.
          </>
        )}
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
        Preview
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
      (cause) => tell(faultText(cause)),
    );
  };
  return (
    <>
      <p>
        It shows {made.full} of {countText(made.lines, "line")} in full, and{" "}
        {made.kind === "masked" ? "masks" : "withholds"} {countText(made.strings, "string")}, until{" "}
        {fullTimeOf(made.expiresAt)}.
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
