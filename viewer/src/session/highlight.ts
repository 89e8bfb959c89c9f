/**
 * Highlight: colours code on the screen, with languages loaded on first use.
 *
 * - Nothing is parsed as HTML: elements and texts are built here from the result of highlight.js,
 *   and the text is unchanged. Classes are from a fixed set.
 * - Code over CODE_CHARS_MAX stays plain: colouring it would take longer than reading it.
 */

import { GRAMMARS } from "./grammars.ts";

export const CODE_CHARS_MAX = 50_000;
const MARGIN_PX = 400;
/** Without scrolling. Coloured code is laid out and painted again, which would drop frames. */
const REST_MS = 150;

const seen = new WeakSet<Element>();
/** Near the screen, and not yet coloured. */
const near = new Set<Element>();
let observer: IntersectionObserver | null = null;
let isPlanned = false;
let resting: ReturnType<typeof setTimeout> | undefined;

/** Colours the code below an element, when it is near the screen and nothing is being scrolled. */
export function watchCode(root: HTMLElement): void {
  if (observer === null)
    document.addEventListener("scroll", rest, { capture: true, passive: true });
  observer ??= new IntersectionObserver(
    (changes) => {
      for (const { isIntersecting, target } of changes) {
        if (isIntersecting) near.add(target);
        else near.delete(target); // Scrolled past.
      }
      plan();
    },
    { rootMargin: `${MARGIN_PX}px` },
  );
  for (const { parentElement: block } of root.querySelectorAll(".code > .lang")) {
    if (block === null || seen.has(block)) continue;
    seen.add(block);
    observer.observe(block);
  }
}

function rest(): void {
  clearTimeout(resting);
  resting = setTimeout(() => {
    resting = undefined;
    plan();
  }, REST_MS);
}

/** One block at a time: scrolling comes first. */
function plan(): void {
  const [next] = near;
  if (isPlanned || resting !== undefined || next === undefined) return;
  isPlanned = true;
  whenIdle(() => {
    isPlanned = false;
    if (resting !== undefined) return;
    if (!near.delete(next)) return plan();
    observer?.unobserve(next);
    void colour(next).then(plan);
  });
}

/** Safari has no idle callbacks. */
function whenIdle(run: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(run);
  else setTimeout(run, 50);
}

async function colour(block: Element): Promise<void> {
  const name =
    block
      .querySelector(".lang")
      ?.textContent?.trim()
      .split(/[\s,{]/, 1)[0] ?? "";
  const code = block.querySelector("code");
  const language = name.toLowerCase();
  const grammar = GRAMMARS.get(language);
  if (grammar === undefined || code === null) return;
  const text = code.textContent ?? "";
  if (text.length > CODE_CHARS_MAX) return;
  try {
    const [{ default: highlighter }, { default: rules }] = await Promise.all([
      import("highlight.js/lib/core"),
      grammar(),
    ]);
    if (!highlighter.getLanguage(language)) highlighter.registerLanguage(language, rules);
    const { _emitter } = highlighter.highlight(text, { language, ignoreIllegals: true });
    const { rootNode } = _emitter as unknown as { readonly rootNode: Scope };
    code.replaceChildren(...rootNode.children.map(nodeOf));
  } catch {
    // It stays plain, which is readable.
  }
}

/** A token of highlight.js: a range of code, and its kind. */
interface Scope {
  readonly scope?: string;
  readonly children: readonly (Scope | string)[];
}

const CLASSES = new Set(
  (
    "keyword built_in type literal number string regexp subst symbol class function title params " +
    "comment doctag meta section tag name attr attribute variable bullet code emphasis strong " +
    "link quote addition deletion property operator punctuation"
  ).split(" "),
);

function nodeOf(child: Scope | string): Node {
  if (typeof child === "string") return document.createTextNode(child);
  const element = document.createElement("span");
  const [name = ""] = (child.scope ?? "").split(".");
  if (CLASSES.has(name)) element.className = `hl-${name.replace("_", "-")}`;
  element.append(...child.children.map(nodeOf));
  return element;
}
