/**
 * Client: what the site's pages do in the browser: themes, the menu of small screens, search, and
 * buttons that copy code.
 *
 * Everything works from any folder of any server, and from files. The search index is loaded when it
 * is first needed, as a script, because pages from files may not fetch.
 */

const RESULTS_MAX = 30;
/** Characters of an excerpt before and after the first word that was found. */
const BEFORE = 45;
const AFTER = 135;

/** The browser's settings may forbid it. */
const storage = (() => {
  try {
    return localStorage;
  } catch {
    return null;
  }
})();
const page = document.documentElement;
page.dataset.script = ""; // Without scripts, the styles show the menu and no buttons.
const saved = storage?.getItem("theme");
if (saved) page.dataset.theme = saved;

document.addEventListener("DOMContentLoaded", () => {
  const element = (id) => document.getElementById(`page.${id}`);
  startTheme(element("theme-button"));
  startMenu(element("menu"), element("menu-button"));
  startSearch(element("search"), element("search-button"));
  const aside = document.querySelector("aside");
  if (aside) markSection(aside);
  if (navigator.clipboard)
    for (const block of document.querySelectorAll("pre")) addCopyButton(block);
  makeScrollable();
  addEventListener("resize", makeScrollable);
});

/** What is wider than the page gets the focus, so that the keyboard can scroll it. */
function makeScrollable() {
  const boxes = [...document.querySelectorAll("pre, .wide")];
  const isWide = boxes.map((box) => box.scrollWidth > box.clientWidth);
  for (const [at, box] of boxes.entries()) {
    const label = box.tagName === "PRE" ? "Code" : "Table";
    for (const [name, value] of [
      ["tabindex", 0],
      ["role", "group"],
      ["aria-label", label],
    ]) {
      if (isWide[at]) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }
}

function startTheme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (page.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  show();
  system.addEventListener("change", show);
  button.addEventListener("click", () => {
    page.dataset.theme = isDark() ? "light" : "dark";
    storage?.setItem("theme", page.dataset.theme);
    show();
  });
}

/** Scrolls a list to its current link. `scrollIntoView` would scroll the page as well. */
function showCurrent(list) {
  const link = list.querySelector("[aria-current]");
  if (link) list.scrollTop = link.offsetTop - list.clientHeight / 2;
}

/** On small screens the menu covers the page while it is open. */
function startMenu(menu, button) {
  const toggle = (isOpen) => {
    menu.classList.toggle("open", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
    showCurrent(menu);
  };
  showCurrent(menu);
  button.addEventListener("click", () => toggle(!menu.classList.contains("open")));
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !menu.classList.contains("open")) return;
    toggle(false);
    button.focus();
  });
}

/** Marks the section being read in the list of the page's headings. */
function markSection(aside) {
  const links = [...aside.querySelectorAll("a")];
  const headings = links.map((link) => {
    return document.getElementById(decodeURIComponent(link.hash.slice(1)));
  });
  const observer = new IntersectionObserver(
    () => {
      const isRead = (heading) => heading.getBoundingClientRect().top < 100;
      aside.querySelector("[aria-current]")?.removeAttribute("aria-current");
      links[headings.findLastIndex(isRead)]?.setAttribute("aria-current", "true");
      showCurrent(aside);
    },
    { rootMargin: "-100px 0px 0px" },
  );
  for (const heading of headings) observer.observe(heading);
}

function addCopyButton(block) {
  if (block.classList.contains("text")) return; // Output.
  const button = document.createElement("button");
  button.className = "copy";
  const show = (text) => () => {
    button.textContent = text;
  };
  show("Copy")();
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(block.textContent).then(show("Copied"), show("Not allowed"));
    setTimeout(show("Copy"), 2000);
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}

function startSearch(dialog, button) {
  const input = dialog.querySelector("input");
  const list = dialog.querySelector("ol");
  let search = null;
  const show = () => {
    const isAsked = search !== null && input.value.trim() !== "";
    const found = isAsked ? search(input.value) : [];
    list.replaceChildren(...found.slice(0, RESULTS_MAX).map(item));
    list.scrollTop = 0;
    const none = isAsked ? "Nothing found: try other words." : "";
    const count = `Sections found: ${found.length}`;
    const more = found.length > RESULTS_MAX ? `, the best ${RESULTS_MAX} are shown` : "";
    dialog.querySelector("p").textContent = found.length > 0 ? `${count}${more}.` : none;
  };
  globalThis.verbatimSearch = (sections, find) => {
    search = (query) => find(sections, query);
    show();
  };
  const open = () => {
    if (!dialog.open) dialog.showModal();
    input.select();
    if (search !== null || document.querySelector("script[data-search]")) return;
    const script = document.createElement("script");
    script.src = `${page.dataset.up}search.js`;
    script.dataset.search = "";
    document.head.append(script);
  };
  button.addEventListener("click", open);
  input.addEventListener("input", show);
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog || target.closest("a")) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand ? event.key === "k" : event.key === "/" && !dialog.open) {
      event.preventDefault();
      open();
    }
    if (!dialog.open) return;
    const isTyping = document.activeElement === input;
    if (event.key === "Escape") {
      event.preventDefault(); // The browser would first empty the input.
      dialog.close();
    }
    if (event.key === "Enter" && isTyping) list.querySelector("a")?.click();
    if (event.key.length === 1 && !isCommand && !isTyping) input.focus();
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    (links[at] ?? input).focus();
  });
}

function item({ section: [address, title, heading, text], stems }) {
  const link = document.createElement("a");
  link.href = `${page.dataset.up}${address}`;
  const name = document.createElement("strong");
  name.textContent = heading === title || heading === "" ? title : `${title}: ${heading}`;
  const span = document.createElement("span");
  span.append(...excerpt(text, stems));
  link.append(name, span);
  const row = document.createElement("li");
  row.append(link);
  return row;
}

/** The text around the first word that was found, cut at spaces, with every such word marked. */
function excerpt(text, stems) {
  const escaped = stems.map((stem) => stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const word = new RegExp(`((?<!\\w)(?:${escaped.join("|")})\\w*)`, "i");
  const at = Math.max(0, text.search(word));
  const start = at > BEFORE ? text.indexOf(" ", at - BEFORE) + 1 : 0;
  const end = text.length > at + AFTER ? text.lastIndexOf(" ", at + AFTER) : text.length;
  const shown = text.slice(Math.min(start, at), Math.max(end, at));
  const parts = `${start > 0 ? "… " : ""}${shown}${end < text.length ? " …" : ""}`.split(word);
  return parts.map((part, index) => {
    if (index % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}
