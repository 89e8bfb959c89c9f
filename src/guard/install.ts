/** Install: the guard as a service of the user, started at each login. */

import { join } from "node:path";

export interface Service {
  /** The file that describes it. */
  readonly path: string;
  readonly text: string;
  /** What to run after it is written, and before it is removed. */
  readonly start: readonly string[];
  readonly stop: readonly string[];
}

export interface ServiceFacts {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly configDirectory: string;
  /** The program and its arguments that start the guard. */
  readonly command: readonly string[];
}

const LABEL = "verbatim-guard";

export function guardService(facts: ServiceFacts): Service {
  return facts.platform === "darwin" ? launchAgent(facts) : systemdUnit(facts);
}

function systemdUnit({ configDirectory, command }: ServiceFacts): Service {
  const unit = `${LABEL}.service`;
  return {
    path: join(configDirectory, "systemd", "user", unit),
    text: `[Unit]
Description=Keeps copies of AI agents' sessions (verbatim guard)

[Service]
ExecStart=${command.map(systemdWord).join(" ")}
Restart=on-failure
RestartSec=10
Nice=10
UMask=0077

[Install]
WantedBy=default.target
`,
    start: ["systemctl", "--user", "enable", "--now", unit],
    stop: ["systemctl", "--user", "disable", "--now", unit],
  };
}

/** systemd replaces % and $ in quoted words, too. */
function systemdWord(word: string): string {
  const escaped = word.replaceAll(/["\\]/g, "\\$&").replaceAll("%", "%%").replaceAll("$", "$$$$");
  return `"${escaped}"`;
}

function launchAgent({ home, command }: ServiceFacts): Service {
  const path = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
  const words = command.map((word) => `    <string>${xml(word)}</string>`).join("\n");
  return {
    path,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`,
    start: ["launchctl", "load", "-w", path],
    stop: ["launchctl", "unload", "-w", path],
  };
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
