/** List column: the list beside an open session, where there is room for it. */

import { signal } from "@preact/signals";
import { listFilter } from "../address.ts";
import { keptSwitch } from "../kept-switch.ts";
import { ListPane, useListStore } from "./list-pane.tsx";

/** list.css has the same width. */
const wide = matchMedia("(min-width: 75rem)");
const isWide = signal(wide.matches);
wide.addEventListener("change", ({ matches }) => {
  isWide.value = matches;
});

const choice = keptSwitch("verbatim.list");

export function ListColumn({ id }: { readonly id: string }) {
  return isWide.value && choice.isOn.value ? <Shown id={id} /> : null;
}

function Shown({ id }: { readonly id: string }) {
  const filter = listFilter.value;
  const store = useListStore(filter);
  return (
    <aside class="list-column" id="list-column" aria-label="Sessions">
      <ListPane store={store} filter={filter} current={id} />
    </aside>
  );
}

/** Shows or hides the list. On smaller screens, the way back to it is there instead. */
export function ListButton() {
  const isOn = choice.isOn.value;
  const name = isOn ? "Hide the list" : "Show the list";
  return (
    <button
      type="button"
      class="quiet list-button"
      aria-expanded={isOn}
      aria-controls={isOn ? "list-column" : undefined}
      aria-label={name}
      title={name}
      onClick={choice.toggle}
    >
      <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
        <path d="M4 5h16v14H4zM10 5v14" />
      </svg>
    </button>
  );
}
