/** Tool button: an action of the session's header: an icon and a word; on a phone the icon alone. */

const ICONS = {
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13m4.8 11.3L20 20",
  outline: "M4 6h2m3 0h11M4 12h2m3 0h11M4 18h2m3 0h11",
  filter: "M4 5h16l-6 7.5V19l-4 1.5v-8z",
  export: "M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 20h14",
  files: "M6 3h8l4 4v14H6zM14 3v5h4",
  share:
    "M18 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6M6 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6m12 7a3 3 0 1 0 0-6 3 3 0 0 0 0 6M8.6 10.5l6.8-4m-6.8 7 6.8 4",
  go: "M5 12h14m-6-6 6 6-6 6",
  resume: "M7 4v16l12-8z",
} as const;

export function Icon({ name }: { readonly name: keyof typeof ICONS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

interface ToolProps {
  readonly name: string;
  readonly icon: keyof typeof ICONS;
  readonly run: () => void;
  readonly kind?: string;
  readonly keys?: string;
  /** Of one that shows and hides something. */
  readonly isOn?: boolean;
}

export function ToolButton({ name, icon, run, kind = "", keys, isOn }: ToolProps) {
  const title = keys === undefined ? name : `${name} ( ${keys} )`;
  return (
    <button
      type="button"
      class={kind}
      aria-label={name}
      aria-keyshortcuts={keys}
      aria-pressed={isOn}
      title={title}
      onClick={run}
    >
      <Icon name={icon} />
      <span class="tool-word">{name}</span>
    </button>
  );
}
