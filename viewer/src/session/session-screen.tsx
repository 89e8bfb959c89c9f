/** Session screen: one session: its header, its transcript, the rail, its actions. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Links } from "../../../src/render/html/entry-html.ts";
import { GoneBanner } from "../live/gone-banner.tsx";
import { isProofBad } from "../proof/proof-banner.tsx";
import { sessionHref } from "../route.ts";
import { client } from "../server.ts";
import { childId } from "./child-id.ts";
import { onRowAction } from "./copy.ts";
import { formatFilter, parseFilter } from "./filter.ts";
import { HelpDialog } from "./help-dialog.tsx";
import { InnerSearch } from "./inner-search.tsx";
import { Inspector } from "./inspector.tsx";
import { useKeys } from "./keys.ts";
import { OutlinePanel } from "./outline-panel.tsx";
import { Rail } from "./rail.tsx";
import { Reading } from "./reading.ts";
import { ReadingBar } from "./reading-bar.tsx";
import { SessionHeader } from "./session-header.tsx";
import { Missing, NewEntries, Notice, Unopened } from "./session-states.tsx";
import { SessionStore } from "./session-store.ts";
import { TimeAxis } from "./time-axis.tsx";
import { Transcript } from "./transcript.tsx";
import { toggleWrap } from "./wrap.ts";

interface ScreenProps {
  readonly id: string;
  readonly at: number | null;
  readonly q: string;
  /** The filter, as in the address. */
  readonly f: string;
}

export function SessionScreen({ id, at, q, f }: ScreenProps) {
  const asked = client.value;
  const store = useMemo(() => new SessionStore(asked, id), [asked, id]);
  const reading = useMemo(() => new Reading(store), [store]);
  const [isOpened, setOpened] = useState(false);
  const [thinking, setThinking] = useState(false);
  const [isAll, setAll] = useState(false);
  const [isSearching, setSearching] = useState(q !== "");
  const [isHelpShown, showHelp] = useState(false);
  const [areTurnsShown, showTurns] = useState(false);
  const [isFilterShown, showFilter] = useState(false);
  const [isExpanded, setExpanded] = useState(false);
  useEffect(() => {
    const filter = parseFilter(f);
    const isOther = formatFilter(filter) !== formatFilter(store.filter.peek());
    if (!isOpened) {
      setOpened(true);
      store.filter.value = filter;
      store.isInspecting.value = matchMedia(WIDE).matches;
      void store.open(at);
    } else if (isOther) {
      void store.choose(filter, at ?? (store.isFollowing ? null : reading.visible.peek().from));
    } else if (at !== null) void store.openAt(at);
  }, [store, at, f]);
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
      toEntry: (_line, start) => store.hrefOf(start),
      toSession: (session, agent) => {
        return sessionHref(asked.sessions.idInSameStore(id, childId(isByAgent, session, agent)));
      },
    }),
    [asked, id, isByAgent, store, f],
  );
  const isLeavable = isSearching || areTurnsShown || store.isInspecting.value;
  const inspect = () => {
    const start = Number(reading.current()?.dataset.start ?? Number.NaN);
    const isOn = store.isInspecting.value && store.inspected.value === start;
    store.isInspecting.value = !isOn;
    store.inspected.value = isOn || Number.isNaN(start) ? null : start;
  };
  useKeys(
    {
      next: () => reading.step(1),
      previous: () => reading.step(-1),
      nextTurn: () => reading.toPrompt(1),
      previousTurn: () => reading.toPrompt(-1),
      start: () => void store.toStart(),
      end: () => void store.toEnd(),
      thinking: () => setThinking((is) => !is),
      inspect,
      expand: () => setExpanded((is) => !is),
      wrap: toggleWrap,
      fold: () => foldIn(reading.current()),
      all: () => setAll((is) => !is),
      search: () => setSearching(true),
      leave: () => {
        if (!isSearching && !areTurnsShown) store.isInspecting.value = false;
        setSearching(false);
        showTurns(false);
      },
      help: () => showHelp(true),
    },
    isLeavable,
  );
  const fault = store.fault.value;
  if (head?.isMissing && store.window.value === null) return <Missing session={head.session} />;
  if (fault !== null) return <Unopened {...fault} fate={store.fate.value} />;
  return (
    <main
      id="main"
      tabIndex={-1}
      class={isProofBad(asked, id) ? "page session-page distrusted" : "page session-page"}
    >
      <SessionHeader
        store={store}
        search={() => setSearching(!isSearching)}
        turns={() => showTurns(!areTurnsShown)}
        filter={() => showFilter(!isFilterShown)}
        help={() => showHelp(true)}
      />
      <GoneBanner store={store} />
      {isSearching && <InnerSearch store={store} q={q} at={at} close={() => setSearching(false)} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons within are reached by keys. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above. */}
      <div
        class="session-body"
        onClick={(event) => onRowAction(event, store)}
        onFocusIn={(event) => inspectFocused(event, store)}
      >
        <OutlinePanel
          store={store}
          reading={reading}
          isShown={areTurnsShown}
          hide={() => showTurns(false)}
        />
        <div class="session-middle">
          <TimeAxis store={store} reading={reading} />
          <ReadingBar
            store={store}
            reading={reading}
            isExpanded={isExpanded}
            expand={setExpanded}
            isFilterShown={isFilterShown}
          />
          <Transcript
            store={store}
            reading={reading}
            links={links}
            thinking={thinking || store.filter.value.has("thinking")}
            isExpanded={isExpanded}
            isAll={isAll}
            at={at}
          />
          <NewEntries store={store} />
        </div>
        <Rail store={store} reading={reading} />
        <Inspector
          store={store}
          reading={reading}
          close={() => {
            store.isInspecting.value = false;
          }}
        />
      </div>
      <Notice store={store} />
      {isHelpShown && <HelpDialog close={() => showHelp(false)} />}
    </main>
  );
}

/** Wide enough for the inspector to be open from the start. */
const WIDE = "(min-width: 112rem)";

/** The inspector shows the row that has the focus, so that keys step through entries in it. */
function inspectFocused({ target }: Event, store: SessionStore): void {
  if (!store.isInspecting.peek() || !(target instanceof HTMLElement)) return;
  if (!target.matches(".entries > .row")) return;
  store.inspected.value = Number(target.dataset.start);
}

/** Unfolds everything in an entry; or folds it, when all is unfolded. */
function foldIn(row: HTMLElement | null): void {
  const all = Array.from(row?.querySelectorAll<HTMLDetailsElement>("details.box") ?? []);
  const isAnyFolded = all.some(({ open }) => !open);
  for (const details of all) details.open = isAnyFolded;
}
