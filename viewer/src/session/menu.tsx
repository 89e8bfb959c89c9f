/** Menu: a button with a panel below it, which Escape and a press elsewhere close. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface MenuProps {
  readonly kind: string;
  readonly name?: string;
  /** What the button shows. */
  readonly label: ComponentChildren;
  /** Rendered while it is open. */
  readonly children: ComponentChildren;
}

export function Menu({ kind, name, label, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [isOpen, open] = useState(false);
  useEffect(() => {
    const onPress = ({ target }: Event) => {
      if (menu.current?.open && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    addEventListener("pointerdown", onPress);
    return () => removeEventListener("pointerdown", onPress);
  }, []);
  return (
    <details
      class={`menu ${kind}`}
      ref={menu}
      onToggle={({ currentTarget }) => open(currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.stopPropagation();
        menu.current.open = false;
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary class="button" aria-label={name} title={name}>
        {label}
      </summary>
      <div class="menu-items">{isOpen && children}</div>
    </details>
  );
}
