/**
 * HTML view: a piece of `Html` in the page. It is inserted once, so that unfolded parts stay so.
 */

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
 * Makes elements that scroll sideways focusable, so that keys scroll them. All at once in the next
 * frame: measuring each piece as it comes would cause a layout for each.
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
