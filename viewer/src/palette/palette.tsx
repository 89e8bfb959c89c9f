/**
 * Palette: goes to any session, project, agent or page, by typing. Ctrl-K or Cmd-K opens it.
 *
 * It is a modal dialog, so the browser keeps the focus inside and closes it with Escape. The box is
 * a combobox: the focus stays in it, and the arrow keys choose among the options.
 */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SessionFacets, SessionItem } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { client } from "../server.ts";
import { type Command, commandsFor, sessionsWith } from "./commands.ts";
import "./palette.css";

/** The number of the opening that is shown; 0: none. */
const shown = signal(0);
let openings = 0;

const PAUSE_MS = 120;

addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  if (shown.value !== 0) shown.value = 0;
  else if (document.querySelector("dialog[open]") === null) openPalette();
});

export function openPalette(): void {
  shown.value = ++openings;
}

export function Palette() {
  const opening = shown.value;
  // The event of a closed dialog may come when the next one is open.
  const close = () => {
    if (shown.value === opening) shown.value = 0;
  };
  return opening === 0 ? null : <OpenPalette key={opening} close={close} />;
}

function OpenPalette({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, choose] = useState(0);
  const [facets, setFacets] = useState<SessionFacets | null>(null);
  const sessions = useSessions(text);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    client
      .peek()
      .sessions.list({ facets: true, subagents: false, limit: 1 })
      .then(
        (page) => setFacets(page.facets),
        () => {}, // The list shows what is wrong with the server.
      );
  }, []);
  const commands = useMemo(() => commandsFor(text, facets, sessions), [text, facets, sessions]);
  const chosen = Math.min(at, commands.length - 1);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    dialog.current?.close(); // The focus returns to where it was.
    close();
    if (typeof command.deed === "string") location.hash = command.deed;
    else command.deed();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") choose((chosen + 1) % commands.length);
    else if (event.key === "ArrowUp") choose((chosen + commands.length - 1) % commands.length);
    else if (event.key === "Enter") run(commands[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog ref={dialog} class="palette" aria-label="Go to" onClose={close} onClick={onBackdrop}>
      <div class="palette-body">
        <input
          class="search-box"
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-options"
          aria-activedescendant={chosen < 0 ? undefined : `palette-${chosen}`}
          aria-label="Go to a session, project, agent or page"
          placeholder="Go to a session, project, agent or page"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            choose(0);
          }}
          onKeyDown={onKeyDown}
        />
        <Options commands={commands} chosen={chosen} run={run} />
        {commands.length === 0 && <p role="status">Nothing is called that</p>}
      </div>
    </dialog>
  );
}

/** A click outside closes it: the backdrop is part of the dialog element. */
function onBackdrop({ target, currentTarget }: Event): void {
  if (target === currentTarget && target instanceof HTMLDialogElement) target.close();
}

interface OptionsProps {
  readonly commands: readonly Command[];
  readonly chosen: number;
  readonly run: (command: Command) => void;
}

function Options({ commands, chosen, run }: OptionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, commands]);
  return (
    <div ref={list} id="palette-options" role="listbox" aria-label="Places and actions">
      {commands.map((command, index) => {
        const isFirst = commands[index - 1]?.group !== command.group;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
          <div
            key={`${command.group} ${index}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            class="palette-option"
            onClick={() => run(command)}
          >
            <span class="palette-group">{isFirst ? command.group : ""}</span>
            <span class="palette-name">{pageText(command.name)}</span>
            <span class="palette-note">{pageText(command.note)}</span>
          </div>
        );
      })}
    </div>
  );
}

function useSessions(text: string): readonly SessionItem[] {
  const [sessions, show] = useState<readonly SessionItem[]>([]);
  useEffect(() => {
    let isOver = false;
    const load = async () => {
      try {
        const found = await sessionsWith(client.peek(), text);
        if (!isOver) show(found);
      } catch {
        // The list shows what is wrong with the server.
      }
    };
    const timer = setTimeout(load, PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return sessions;
}
