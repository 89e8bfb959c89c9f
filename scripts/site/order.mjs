/**
 * Order: the pages of the documentation site, as its menu lists them. A page of `docs` that is not
 * named here is listed in the group `OTHERS`, so that none is forgotten.
 *
 * @typedef {object} Group
 * @property {string} title Empty for pages without a group.
 * @property {readonly string[]} pages Paths of Markdown files, or names of generated pages.
 */

/** Pages that are written by the build, from the code (generated.mjs). */
export const GENERATED = ["docs/commands.md", "docs/http.md"];

export const OTHERS = "In depth";

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
    title: "Guides",
    pages: [
      "docs/guides/keep-history.md",
      "docs/guides/frameworks.md",
      "docs/guides/sign-and-verify.md",
      "docs/guides/redact-and-share.md",
      "docs/guides/resume-after-a-crash.md",
      "docs/guides/run-the-server.md",
      "docs/guides/move-to-postgresql.md",
      "docs/guides/cost-reports.md",
    ],
  },
  {
    title: OTHERS,
    pages: [
      "docs/agents.md",
      "docs/viewer.md",
      "docs/capture.md",
      "docs/integrations.md",
      "docs/scan.md",
      "docs/redaction.md",
      "docs/witnesses.md",
      "docs/log.md",
      "docs/resume.md",
      "docs/usage.md",
      "docs/doctor.md",
      "docs/server.md",
      "docs/remote.md",
      "docs/scaling.md",
      "docs/subscriptions.md",
      "docs/adding-a-dialect.md",
    ],
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
      "docs/compatibility.md",
      "docs/upgrading.md",
      "docs/glossary.md",
    ],
  },
  {
    title: "Explain",
    pages: [
      "docs/explain/durable-append.md",
      "docs/explain/recovery.md",
      "docs/explain/what-signing-proves.md",
      "docs/explain/threat-model.md",
      "docs/architecture.md",
      "docs/security.md",
      "docs/torture.md",
      "docs/performance.md",
    ],
  },
  { title: "", pages: ["docs/compare.md", "docs/faq.md"] },
  {
    title: "Project",
    pages: ["CHANGELOG.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md", "CODE_OF_CONDUCT.md"],
  },
];

/** Groups whose pages are all files of a folder, closed in the menu until one of them is shown. */
export const FOLDERS = [
  { title: "Formats", folder: "docs/formats" },
  { title: "Decisions", folder: "docs/decisions" },
];
