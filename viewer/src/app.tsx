/** App: the frame of every page, and the page of the current route. */

import { useEffect } from "preact/hooks";
import { route } from "./address.ts";
import { LostBanner } from "./live/lost-banner.tsx";
import { client, isTokenWanted } from "./server.ts";
import { SessionScreen } from "./session/session-screen.tsx";
import { SessionsPage } from "./sessions/sessions-page.tsx";
import { ThemeButton } from "./style/theme-button.tsx";
import { TokenPrompt } from "./token-prompt.tsx";
import { UsagePage } from "./usage/usage-page.tsx";

export function App() {
  return (
    <>
      <button type="button" class="skip-link" onClick={skip}>
        Skip to the content
      </button>
      <header class="app-header">
        <a class="brand" href="#/">
          <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
            <path d="M4 5h16M4 10h10M4 15h16M4 20h7" />
          </svg>
          Verbatim
        </a>
        <nav aria-label="Pages">
          <NavLink href="#/" name="Sessions" isHere={route.value.page.startsWith("session")} />
          <NavLink href="#/usage" name="Usage" isHere={route.value.page === "usage"} />
        </nav>
        <ThemeButton />
      </header>
      <LostBanner />
      {isTokenWanted.value ? <TokenPrompt /> : <Page />}
    </>
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
      return <SessionScreen key={shown.id} id={shown.id} at={shown.at} q={shown.q} f={shown.f} />;
    case "usage":
      return <UsagePage client={client.value} />;
    case "unknown":
      return <NotFound />;
  }
}

const TITLES = {
  sessions: "Sessions · Verbatim",
  usage: "Usage · Verbatim",
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
