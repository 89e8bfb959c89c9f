/** Grammars: the languages for colouring code, each loaded on first use. */

import type { LanguageFn } from "highlight.js";

type Loader = () => Promise<{ readonly default: LanguageFn }>;

const bash: Loader = () => import("highlight.js/lib/languages/bash");
const c: Loader = () => import("highlight.js/lib/languages/c");
const cpp: Loader = () => import("highlight.js/lib/languages/cpp");
const csharp: Loader = () => import("highlight.js/lib/languages/csharp");
const css: Loader = () => import("highlight.js/lib/languages/css");
const diff: Loader = () => import("highlight.js/lib/languages/diff");
const docker: Loader = () => import("highlight.js/lib/languages/dockerfile");
const go: Loader = () => import("highlight.js/lib/languages/go");
const ini: Loader = () => import("highlight.js/lib/languages/ini");
const java: Loader = () => import("highlight.js/lib/languages/java");
const javascript: Loader = () => import("highlight.js/lib/languages/javascript");
const json: Loader = () => import("highlight.js/lib/languages/json");
const kotlin: Loader = () => import("highlight.js/lib/languages/kotlin");
const lua: Loader = () => import("highlight.js/lib/languages/lua");
const makefile: Loader = () => import("highlight.js/lib/languages/makefile");
const markdown: Loader = () => import("highlight.js/lib/languages/markdown");
const php: Loader = () => import("highlight.js/lib/languages/php");
const python: Loader = () => import("highlight.js/lib/languages/python");
const ruby: Loader = () => import("highlight.js/lib/languages/ruby");
const rust: Loader = () => import("highlight.js/lib/languages/rust");
const sql: Loader = () => import("highlight.js/lib/languages/sql");
const swift: Loader = () => import("highlight.js/lib/languages/swift");
const typescript: Loader = () => import("highlight.js/lib/languages/typescript");
const xml: Loader = () => import("highlight.js/lib/languages/xml");
const yaml: Loader = () => import("highlight.js/lib/languages/yaml");

/** By the names that people write after a fence. */
export const GRAMMARS: ReadonlyMap<string, Loader> = new Map(
  Object.entries({
    bash,
    sh: bash,
    shell: bash,
    zsh: bash,
    console: bash,
    c,
    h: c,
    cpp,
    "c++": cpp,
    cc: cpp,
    hpp: cpp,
    csharp,
    cs: csharp,
    "c#": csharp,
    css,
    diff,
    patch: diff,
    dockerfile: docker,
    docker,
    go,
    golang: go,
    ini,
    toml: ini,
    conf: ini,
    java,
    kotlin,
    kt: kotlin,
    lua,
    makefile,
    make: makefile,
    javascript,
    js: javascript,
    jsx: javascript,
    mjs: javascript,
    json,
    jsonl: json,
    markdown,
    md: markdown,
    php,
    python,
    py: python,
    ruby,
    rb: ruby,
    rust,
    rs: rust,
    sql,
    swift,
    typescript,
    ts: typescript,
    tsx: typescript,
    xml,
    html: xml,
    svg: xml,
    vue: xml,
    yaml,
    yml: yaml,
  }),
);
