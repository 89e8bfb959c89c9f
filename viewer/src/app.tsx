/** App: the frame of every page, and the page of the current route. */

import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { VerbatimClient } from "../../src/client/client.ts";
import { listHref, route } from "./address.ts";
import { LostBanner } from "./live/lost-banner.tsx";
import { openPalette, Palette } from "./palette/palette.tsx";
import { client, isAccessLost, isTokenWanted } from "./server.ts";
import { SessionScreen } from "./session/session-screen.tsx";
import { Icon } from "./session/tool-button.tsx";
import { ListColumn } from "./sessions/list-column.tsx";
import { SessionsPage } from "./sessions/sessions-page.tsx";
import { ThemeButton } from "./style/theme-button.tsx";
import { TokenPrompt } from "./token-prompt.tsx";

export function App() {
  const { page } = route.value;
  useLayoutEffect(() => {
    document.documentElement.dataset.page = page;
  }, [page]);
  return (
    <>
      <button type="button" class="skip-link" onClick={skip}>
        Skip to the content
      </button>
      <header class="app-header">
        <Brand />
        {isIn("share") ? <span class="space" /> : <Pages />}
        <ThemeButton />
      </header>
      <Content />
    </>
  );
}

function Brand() {
  const shown = (
    <>
      <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
        <path d="M4 5h16M4 10h10M4 15h16M4 20h7" />
      </svg>
      <span>Verbatim</span>
    </>
  );
  if (isIn("share")) return <span class="brand">{shown}</span>;
  return (
    <a class="brand" href="#/" aria-label="Verbatim">
      {shown}
    </a>
  );
}

/** A share has no lists, and makes no other request. */
function Content() {
  if (isIn("share")) return <Page />;
  return (
    <>
      <LostBanner />
      {isTokenWanted.value && !isAccessLost.value && !isIn("copy") ? <TokenPrompt /> : <Page />}
      <Palette />
    </>
  );
}

function Pages() {
  return (
    <>
      <nav aria-label="Pages">
        <NavLink href={listHref.value} name="Sessions" isHere={isIn("session")} />
        <NavLink href="#/usage" name="Usage" isHere={isIn("usage")} />
        <NavLink href="#/insights" name="Insights" isHere={isIn("insights")} />
      </nav>
      <PaletteButton />
    </>
  );
}

function isIn(pages: string): boolean {
  return route.value.page.startsWith(pages);
}

function PaletteButton() {
  return (
    <button
      type="button"
      class="palette-button"
      onClick={openPalette}
      aria-keyshortcuts="Control+K Meta+K"
      title="Go to … ( Ctrl K )"
    >
      <Icon name="go" />
      <span>Go to …</span> <kbd>Ctrl K</kbd>
    </button>
  );
}

/** Not a link: the hash is the route. */
function skip(): void {
  document.getElementById("main")?.focus();
}

function NavLink(props: {
  readonly href: string;
  readonly name: string;
  readonly isHere: boolean;
}) {
  return (
    <a href={props.href} aria-current={props.isHere ? "page" : undefined}>
      {props.name}
    </a>
  );
}

function Page() {
  const shown = route.value;
  useEffect(() => {
    if (shown.page !== "session") document.title = TITLES[shown.page];
  }, [shown.page]);
  switch (shown.page) {
    case "sessions":
      return <SessionsPage filter={shown.filter} />;
    case "session":
      return (
        <>
          <ListColumn id={shown.id} />
          <SessionScreen key={shown.id} id={shown.id} at={shown.at} q={shown.q} f={shown.f} />
        </>
      );
    case "usage":
      return <Lazy key="usage" load={loadUsage} />;
    case "insights":
      return <Lazy key="insights" load={loadInsights} />;
    case "copy":
      return <Lazy key="copy" load={loadCopy} />;
    case "share":
      return <Lazy key={`share ${shown.token}`} load={loadCopy} token={shown.token} />;
    case "unknown":
      return <NotFound />;
  }
}

type LazyPage = ComponentType<{ client: VerbatimClient; token: string }>;

const loadUsage = async (): Promise<LazyPage> => (await import("./usage/usage-page.tsx")).UsagePage;
const loadInsights = async (): Promise<LazyPage> =>
  (await import("./insights/insights-page.tsx")).InsightsPage;
const loadCopy = async (): Promise<LazyPage> => (await import("./copy/copy-page.tsx")).CopyPage;

interface LazyProps {
  readonly load: () => Promise<LazyPage>;
  readonly token?: string;
}

/** A page in its own chunk: most visits never open it. */
function Lazy({ load, token = "" }: LazyProps) {
  const [Loaded, setLoaded] = useState<LazyPage | null>(null);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (page) => setLoaded(() => page),
      () => setFailed(true),
    );
  }, [load]);
  if (Loaded !== null) return <Loaded client={client.value} token={token} />;
  return (
    <main id="main" tabIndex={-1} class="page">
      <p class="blank">{isFailed ? "The page could not be loaded. Reload it." : "Loading …"}</p>
    </main>
  );
}

const TITLES = {
  sessions: "Sessions · Verbatim",
  usage: "Usage · Verbatim",
  insights: "Insights · Verbatim",
  copy: "Disclosed copy · Verbatim",
  share: "Shared session · Verbatim",
  unknown: "Not found · Verbatim",
} as const;

function NotFound() {
  return (
    <main id="main" tabIndex={-1} class="page">
      <div class="blank">
        <h1>There is no such page</h1>
        <p>
          <a href="#/">All sessions</a>
        </p>
      </div>
    </main>
  );
}
