/** HTML view: a piece of `Html` in the page. It is put there once, so what was unfolded stays so. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Html } from "../../src/render/html/markup.ts";
import { trustedHtml } from "./trusted-html.ts";

export function HtmlView({ html }: { readonly html: Html }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    element.innerHTML = trustedHtml(html);
    const reach = () => reachSoon(element);
    reach();
    element.addEventListener("toggle", reach, true);
    return () => element.removeEventListener("toggle", reach, true);
  }, [html]);
  return <div ref={place} />;
}

const waiting = new Set<HTMLElement>();

/**
 * What scrolls sideways can be reached, and so scrolled, by keys; nothing else is on the way. All at
 * once in the next frame: measuring each piece as it comes would lay the page out for each.
 */
function reachSoon(element: HTMLElement): void {
  if (waiting.size === 0) requestAnimationFrame(reachLongLines);
  waiting.add(element);
}

function reachLongLines(): void {
  const all = [...waiting].flatMap((element) => [...element.querySelectorAll("pre")]);
  waiting.clear();
  const long = all.filter(({ scrollWidth, clientWidth }) => {
    return scrollWidth > clientWidth && clientWidth > 0;
  });
  for (const pre of long) pre.tabIndex = 0;
}
