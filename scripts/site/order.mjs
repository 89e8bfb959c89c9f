/**
 * Order: the pages of the documentation site. The menu lists `ORDER`. The pages of `BEHIND` and
 * `OFF_MENU` are built and searched too, but only links lead to them: the menu stays short enough
 * to be read. Every page of `docs` is in one of the three (test/site.test.ts).
 *
 * @typedef {object} Group
 * @property {string} title
 * @property {readonly string[]} pages Paths of Markdown files, or names of generated pages.
 */

/** Pages that are written by the build, from the code (generated.mjs). */
export const GENERATED = ["docs/commands.md", "docs/http.md"];

/** @type {readonly Group[]} */
export const ORDER = [
  {
    title: "Start",
    pages: [
      "docs/index.md",
      "docs/start/see-your-sessions.md",
      "docs/start/record-your-agent.md",
      "docs/start/stream-to-a-browser.md",
    ],
  },
  {
    title: "Your sessions",
    pages: [
      "docs/guides/keep-history.md",
      "docs/viewer.md",
      "docs/usage.md",
      "docs/resume.md",
      "docs/redaction.md",
      "docs/guides/files.md",
      "docs/guides/retention.md",
      "docs/agents.md",
      "docs/doctor.md",
    ],
  },
  {
    title: "Record your agent",
    pages: ["docs/guides/frameworks.md", "docs/integrations.md", "docs/capture.md", "docs/log.md"],
  },
  {
    title: "Prove",
    pages: [
      "docs/guides/sign-and-verify.md",
      "docs/guides/auditor.md",
      "docs/security.md",
      "docs/witnesses.md",
    ],
  },
  {
    title: "Run a server",
    pages: ["docs/guides/team.md", "docs/server.md", "docs/scaling.md", "docs/subscriptions.md"],
  },
  {
    title: "Reference",
    pages: [
      "docs/commands.md",
      "docs/cli.md",
      "docs/exit-codes.md",
      "docs/errors.md",
      "docs/reference.md",
      "docs/http.md",
      "docs/api.md",
      "docs/history.md",
      "docs/formats.md",
      "docs/compatibility.md",
      "docs/glossary.md",
    ],
  },
  {
    title: "Understand",
    pages: ["docs/explain/durable-append.md", "docs/compare.md", "docs/faq.md"],
  },
];

/** Folders whose pages are behind one page of the menu. */
export const BEHIND = [{ folder: "docs/formats", page: "docs/formats.md" }];

/**
 * Pages for those who work on Verbatim, and two guides that other pages link: files, and
 * folders with all their pages.
 */
export const OFF_MENU = [
  "docs/guides/nextjs.md",
  "docs/guides/any-language.md",
  "docs/viewer-look.md",
  "docs/adding-a-dialect.md",
  "docs/architecture.md",
  "docs/decisions",
  "docs/performance.md",
  "docs/torture.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  "SECURITY.md",
  "CODE_OF_CONDUCT.md",
];
