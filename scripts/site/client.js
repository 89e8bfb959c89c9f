/**
 * Client: what the site's pages do in the browser: themes, the menu of small screens, search, and
 * buttons that copy code.
 *
 * Everything works from any folder of any server, and from files. The search index is loaded when it
 * is first needed, as a script, because pages from files may not fetch.
 */

const RESULTS_MAX = 30;
const EXCERPT = 90;
/** What a word counts in a page's title, a heading, a text. */
const WEIGHTS = [3, 5, 1];
/** Words of questions, left out of a query that has others. */
const SMALL =
  /^(?:an?|and|are|can|do|does|for|how|i|in|is|it|my|of|on|the|to|what|where|why|with)$/;

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
});

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
  let sections = null;
  const show = () => {
    const found = find(sections ?? [], input.value);
    list.replaceChildren(...found.map(item));
    const isNone = sections !== null && input.value.trim() !== "" && found.length === 0;
    dialog.querySelector("p").textContent = isNone ? "Nothing found: try fewer words." : "";
  };
  globalThis.verbatimSearch = (index) => {
    sections = index;
    show();
  };
  const open = () => {
    if (!dialog.open) dialog.showModal();
    input.select();
    if (sections !== null || document.querySelector("script[data-search]")) return;
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

/**
 * The sections with every word of the query, best first: in headings, in titles, in texts; the
 * beginnings of words before other parts; a heading that is the query before all. Equally good ones
 * are in the menu's order.
 */
function find(sections, query) {
  const typed = query
    .toLowerCase()
    .split(/[\s?]+/)
    .filter(Boolean);
  const large = typed.filter((word) => !SMALL.test(word));
  const words = large.length > 0 ? large : typed;
  const found = [];
  for (const [address, title, heading, text] of words.length > 0 ? sections : []) {
    const parts = [title, heading, text].map((each) => each.toLowerCase());
    const scores = words.map((word) =>
      WEIGHTS.reduce((sum, weight, at) => sum + weight * occurrence(parts[at], word), 0),
    );
    if (scores.includes(0)) continue;
    const isHeading = parts[1].replace(/^\d+\. | \(.*$/g, "") === words.join(" ");
    const score = scores.reduce((sum, each) => sum + each, isHeading ? 20 : 0);
    found.push({ score, address, title, heading, text, word: words[0] });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, RESULTS_MAX);
}

/** 2 if a word begins so, 1 for another part of a word, 0 for none. */
function occurrence(text, part) {
  const between = text.split(part);
  const isBeginning = between.slice(0, -1).some((before) => !/\w/.test(before.at(-1) ?? ""));
  return isBeginning ? 2 : Math.min(between.length - 1, 1);
}

function item({ address, title, heading, text, word }) {
  const link = document.createElement("a");
  link.href = `${page.dataset.up}${address}`;
  const name = document.createElement("strong");
  name.textContent = heading === title || heading === "" ? title : `${title}: ${heading}`;
  const excerpt = document.createElement("span");
  const at = Math.max(0, text.toLowerCase().indexOf(word) - EXCERPT / 2);
  excerpt.textContent = `${at > 0 ? "…" : ""}${text.slice(at, at + 2 * EXCERPT)}`;
  link.append(name, excerpt);
  const row = document.createElement("li");
  row.append(link);
  return row;
}
