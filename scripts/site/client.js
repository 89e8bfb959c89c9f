/**
 * Client: what the site's pages do in the browser: themes, the menu of small screens, search.
 *
 * Everything works from any folder of any server, and from files. The search index is loaded when it
 * is first needed, as a script, because pages from files may not fetch.
 */

const RESULTS_MAX = 30;
const EXCERPT = 90;

const saved = localStorage.getItem("theme");
if (saved) document.documentElement.dataset.theme = saved;

document.addEventListener("DOMContentLoaded", () => {
  const element = (id) => document.getElementById(`page.${id}`);
  element("theme-button").addEventListener("click", () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    const theme = isDark ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  });
  element("menu-button").addEventListener("click", ({ currentTarget }) => {
    const isOpen = element("menu").classList.toggle("open");
    currentTarget.setAttribute("aria-expanded", String(isOpen));
  });
  document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "center" });
  startSearch(element("search"), element("search-button"));
});

function startSearch(dialog, button) {
  const input = dialog.querySelector("input");
  const list = dialog.querySelector("ol");
  let sections = null;
  const show = () => list.replaceChildren(...find(sections ?? [], input.value).map(item));
  globalThis.verbatimSearch = (index) => {
    sections = index;
    show();
  };
  const open = () => {
    if (!dialog.open) dialog.showModal();
    input.select();
    if (sections !== null || document.querySelector("script[data-search]")) return;
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.up}search.js`;
    script.dataset.search = "";
    document.head.append(script);
  };
  button.addEventListener("click", open);
  input.addEventListener("input", show);
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog || target.closest("a")) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      open();
    }
    if (!dialog.open) return;
    if (event.key === "Enter" && document.activeElement === input) list.querySelector("a")?.click();
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    (links[at] ?? input).focus();
  });
}

/** The sections with every word of the query, best first: in titles, in headings, in texts. */
function find(sections, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found = [];
  for (const [address, title, heading, text] of sections) {
    const lower = [title, heading, text].map((each) => each.toLowerCase());
    let score = 0;
    for (const word of words) {
      const inTitle = lower[0].includes(word) ? 3 : 0;
      const inHeading = lower[1].includes(word) ? 5 : 0;
      const at = lower[2].indexOf(word);
      if (inTitle + inHeading === 0 && at < 0) {
        score = 0;
        break;
      }
      score += inTitle + inHeading + (at < 0 ? 0 : 1);
    }
    if (score > 0) found.push({ score, address, title, heading, text, word: words[0] });
  }
  return found.sort((a, b) => b.score - a.score).slice(0, RESULTS_MAX);
}

function item({ address, title, heading, text, word }) {
  const link = document.createElement("a");
  link.href = `${document.documentElement.dataset.up}${address}`;
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
