/** Session screen: one session: its header, its transcript, the rail, its actions. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Links } from "../../../src/render/html/entry-html.ts";
import { shownText } from "../../../src/render/html/markup.ts";
import { sessionHref } from "../route.ts";
import { client } from "../server.ts";
import { childId } from "./child-id.ts";
import { onRowAction } from "./copy.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { InnerSearch } from "./inner-search.tsx";
import { useKeys } from "./keys.ts";
import { LineDialog } from "./line-dialog.tsx";
import { OutlinePanel } from "./outline-panel.tsx";
import { Rail } from "./rail.tsx";
import { Reading } from "./reading.ts";
import { SessionHeader } from "./session-header.tsx";
import { SessionStore } from "./session-store.ts";
import { Transcript } from "./transcript.tsx";

interface ScreenProps {
  readonly id: string;
  readonly at: number | null;
  readonly q: string;
}

export function SessionScreen({ id, at, q }: ScreenProps) {
  const asked = client.value;
  const store = useMemo(() => new SessionStore(asked, id), [asked, id]);
  const reading = useMemo(() => new Reading(store), [store]);
  const [isOpened, setOpened] = useState(false);
  const [thinking, setThinking] = useState(false);
  const [isAll, setAll] = useState(false);
  const [isSearching, setSearching] = useState(q !== "");
  const [isHelpShown, showHelp] = useState(false);
  const [areTurnsShown, showTurns] = useState(false);
  useEffect(() => {
    if (!isOpened) {
      setOpened(true);
      void store.open(at);
    } else if (at !== null) void store.openAt(at);
  }, [store, at]);
  useEffect(() => () => store.close(), [store]);
  const head = store.head.value;
  // Depends on the dialect only: other links would render every row again, and fold what was
  // unfolded.
  const isByAgent = head?.dialect === "homeagent";
  useEffect(() => {
    document.title = `${head?.title ?? head?.session ?? "Session"} · Verbatim`;
  }, [head?.title, head?.session]);
  const links = useMemo<Links>(
    () => ({
      toEntry: (_line, start) => sessionHref(id, start),
      toSession: (session, agent) => {
        return sessionHref(asked.sessions.idInSameStore(id, childId(isByAgent, session, agent)));
      },
    }),
    [asked, id, isByAgent],
  );
  const isLeavable = isSearching || areTurnsShown;
  useKeys(
    {
      next: () => reading.step(1),
      previous: () => reading.step(-1),
      nextTurn: () => reading.toPrompt(1, store.outline.prompts.value),
      previousTurn: () => reading.toPrompt(-1, store.outline.prompts.value),
      start: () => void store.toStart(),
      end: () => void store.toEnd(),
      thinking: () => setThinking((is) => !is),
      fold: () => foldIn(reading.current()),
      all: () => setAll((is) => !is),
      search: () => setSearching(true),
      leave: () => {
        setSearching(false);
        showTurns(false);
      },
      help: () => showHelp(true),
    },
    isLeavable,
  );
  const fault = store.fault.value;
  if (head?.isMissing) return <Missing session={head.session} />;
  if (fault !== null) return <Unopened status={fault.status} text={fault.text} />;
  return (
    <main id="main" tabIndex={-1} class="page session-page">
      <SessionHeader
        store={store}
        search={() => setSearching(!isSearching)}
        turns={() => showTurns(!areTurnsShown)}
        help={() => showHelp(true)}
      />
      {isSearching && <InnerSearch store={store} q={q} at={at} close={() => setSearching(false)} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons within are reached by keys. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above. */}
      <div class="session-body" onClick={(event) => onRowAction(event, store)}>
        <OutlinePanel
          store={store}
          reading={reading}
          isShown={areTurnsShown}
          hide={() => showTurns(false)}
        />
        <Transcript
          store={store}
          reading={reading}
          links={links}
          thinking={thinking}
          isAll={isAll}
          at={at}
        />
        <Rail store={store} reading={reading} />
        <NewEntries store={store} />
      </div>
      <Notice store={store} />
      <LineDialog store={store} />
      {isHelpShown && <HelpDialog close={() => showHelp(false)} />}
    </main>
  );
}

/** Unfolds everything in an entry; or folds it, when all is unfolded. */
function foldIn(row: HTMLElement | null): void {
  const all = Array.from(row?.querySelectorAll<HTMLDetailsElement>("details.box") ?? []);
  const isAnyFolded = all.some(({ open }) => !open);
  for (const details of all) details.open = isAnyFolded;
}

function NewEntries({ store }: { readonly store: SessionStore }) {
  const count = store.arrived.value;
  return (
    <div class="new-entries" role="status">
      {count > 0 && (
        <button type="button" class="primary" onClick={() => store.toEnd()}>
          {count} new ↓
        </button>
      )}
    </div>
  );
}

function Notice({ store }: { readonly store: SessionStore }) {
  const text = store.notice.value;
  return (
    <div role="status" class="notice-place">
      {text !== null && (
        <p class="notice">
          {text}
          <button
            type="button"
            class="quiet"
            onClick={() => {
              store.notice.value = null;
            }}
          >
            Close
          </button>
        </p>
      )}
    </div>
  );
}

/** Its head is pinned on the server, and its log is missing. */
function Missing({ session }: { readonly session: string }) {
  return (
    <main id="main" tabIndex={-1} class="page">
      <div class="blank" role="alert">
        <h1>{shownText(session)}</h1>
        <p class="missing">✕ rolled back: the log of this session is missing</p>
        <p>It was signed, and the user of this server remembers its end. Restore it from a copy.</p>
        <p>
          If it was deleted on purpose, run <code>verbatim head forget {shownText(session)}</code>.
        </p>
        <p>
          <a href="#/">All sessions</a>
        </p>
      </div>
    </main>
  );
}

function Unopened({ status, text }: { readonly status: number; readonly text: string }) {
  return (
    <main id="main" tabIndex={-1} class="page">
      <div class="blank" role="alert">
        <h1>{status === 404 ? "There is no such session here" : "The session cannot be shown"}</h1>
        <p>{status === 404 ? "It may have been moved or deleted since." : text}</p>
        <p>
          <a href="#/">All sessions</a>
        </p>
      </div>
    </main>
  );
}
