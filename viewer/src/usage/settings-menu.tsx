/** Settings menu: currency and time zone. */

import { money, ownZone, saveSettings, settings } from "../settings.ts";

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];

export function SettingsMenu() {
  const now = settings.value;
  return (
    <details class="usage-settings">
      <summary>Settings</summary>
      <div class="usage-fields">
        <label>
          Time zone
          <select
            value={now.zone}
            onChange={(event) => saveSettings({ ...now, zone: event.currentTarget.value })}
          >
            <option value="">This browser's ({ownZone})</option>
            {ZONES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Currency
          <input
            value={now.currency}
            maxLength={8}
            placeholder="USD"
            onChange={(event) => saveSettings({ ...now, currency: event.currentTarget.value })}
          />
        </label>
        <label>
          One US dollar is
          <input
            type="number"
            value={now.rate}
            min="0"
            step="any"
            disabled={now.currency === ""}
            onChange={(event) => saveSettings({ ...now, rate: Number(event.currentTarget.value) })}
          />
        </label>
        <p class="usage-note">
          Kept in this browser. The rate is yours, nothing is fetched: $1 is shown as {money(1)}.
        </p>
      </div>
    </details>
  );
}
