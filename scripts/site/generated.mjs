/**
 * Generated pages: the commands, from what they declare, and the HTTP routes, from the server's own
 * OpenAPI document. Written as Markdown at each build, so that they cannot be out of date.
 *
 * @import { CommandOption } from "../../src/command/command.ts"
 * @import { AnyCommand } from "../shell/tree.mjs"
 */

/** @param {readonly AnyCommand[]} commands */
export function commandsPage(commands) {
  return [
    "# Commands",
    "",
    "Every command and option, generated from the code. [The command line](cli.md) explains what",
    "they have in common, their output and their JSON.",
    "",
    ...commands.flatMap((command) => commandSection(command, "verbatim")),
  ].join("\n");
}

/**
 * @param {AnyCommand} command
 * @param {string} above
 * @returns {string[]}
 */
function commandSection(command, above) {
  const name = `${above} ${command.name}`;
  if ("commands" in command) {
    return command.commands.flatMap((each) => commandSection(each, name));
  }
  const { args = [], options, summary, examples } = command;
  const usage = [name, ...(options.length > 0 ? ["[options]"] : []), ...args.map((a) => a.name)];
  const rows = [
    ...args.map((arg) => `| ${code(arg.name)} | ${cell(arg.summary)} |`),
    ...options.map((option) => `| ${code(option.flags)} | ${cell(optionText(option))} |`),
  ];
  return [
    `## ${name}`,
    "",
    `${sentence(summary)}`,
    "",
    ...["```text", usage.join(" "), "```", ""],
    ...(rows.length > 0 ? ["| argument or option | |", "|---|---|", ...rows, ""] : []),
    ...(examples.length > 0 ? ["```sh", ...examples, "```", ""] : []),
  ];
}

/** @param {CommandOption} option */
function optionText({ summary, choices, default: byDefault, isRepeatable }) {
  const values = choices ? `; one of ${choices.join(", ")}` : "";
  const usual = byDefault === undefined ? "" : `; default: ${byDefault}`;
  return `${summary}${values}${usual}${isRepeatable ? "; may be repeated" : ""}`;
}

/**
 * @typedef {object} Operation
 * @property {string} summary
 * @property {readonly Parameter[]} [parameters]
 * @property {Readonly<Record<string, { description?: string }>>} responses
 *
 * @typedef {object} Parameter
 * @property {string} name
 * @property {string} in
 * @property {string} [description]
 *
 * @typedef {object} OpenApi
 * @property {Readonly<Record<string, Readonly<Record<string, unknown>>>>} paths
 */

const METHODS = ["get", "head", "put", "post", "patch", "delete"];

/** @param {OpenApi} openApi */
export function httpPage({ paths }) {
  return [
    "# HTTP routes",
    "",
    "Every route of the server, generated from its OpenAPI document (`GET /v1/openapi.json`).",
    "[The HTTP API](api.md) explains sessions and the client, [the server](server.md) tokens and",
    "limits, [subscriptions](subscriptions.md) notifications.",
    "",
    ...Object.entries(paths).flatMap(([path, methods]) =>
      METHODS.filter((method) => method in methods).flatMap((method) =>
        routeSection(path, method, /** @type {Operation} */ (methods[method])),
      ),
    ),
  ].join("\n");
}

/**
 * @param {string} path
 * @param {string} method
 * @param {Operation} operation
 */
function routeSection(path, method, { summary, parameters = [], responses }) {
  const rows = [
    ...parameters.map(
      (each) => `| ${code(each.name)} (${each.in}) | ${cell(each.description ?? "")} |`,
    ),
    ...Object.entries(responses).map(
      ([status, { description = "" }]) => `| ${status} | ${cell(description)} |`,
    ),
  ];
  return [
    `## ${method.toUpperCase()} ${path.replace(/[{}]/g, (brace) => `\\${brace}`)}`,
    "",
    sentence(summary),
    "",
    ...["| parameter or status | |", "|---|---|", ...rows, ""],
  ];
}

/** @param {string} text */
function code(text) {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll("|", "\\|").replace(/</g, "&lt;");
}

/** @param {string} text */
function sentence(text) {
  const escaped = text.replace(/</g, "&lt;");
  return `${escaped.charAt(0).toUpperCase()}${escaped.slice(1)}${/[.!?]$/.test(escaped) ? "" : "."}`;
}
