// The person's settings, and their name.
import { useState } from "preact/hooks";

import type { Language } from "@croupier/client";

import { useShared } from "./connection.js";
import { Sheet } from "./dialogs.js";
import { refusalText } from "./errors.js";
import type { Settings } from "./settings.js";
import { useSay } from "./texts/page_texts.js";

const LANGUAGES: Readonly<Record<Language, string>> = { en: "English", nb: "Norsk bokmål", ru: "Русский" };
const THEMES = { system: "themeSystem", light: "themeLight", dark: "themeDark" } as const;
const SWITCHES = { hasFourColours: "fourColours", playsByOneTap: "oneTap", hasSounds: "sounds", vibrates: "vibration" } as const;

export function SettingsSheet({ close }: { readonly close: () => void }) {
  const { connection, settings, setSettings } = useShared();
  const say = useSay();
  const change = (changed: Partial<Settings>) => setSettings({ ...settings, ...changed });
  return (
    <Sheet title={say("settings")} close={close}>
      <div class="settings">
        <NameForm />
        <label>
          {say("language")}
          <select value={connection.language} onChange={({ currentTarget }) => change({ language: currentTarget.value as Language })}>
            {Object.entries(LANGUAGES).map(([language, name]) => <option key={language} value={language}>{name}</option>)}
          </select>
        </label>
        <label>
          {say("theme")}
          <select value={settings.theme} onChange={({ currentTarget }) => change({ theme: currentTarget.value as Settings["theme"] })}>
            {Object.entries(THEMES).map(([theme, text]) => <option key={theme} value={theme}>{say(text)}</option>)}
          </select>
        </label>
        {Object.entries(SWITCHES).map(([name, text]) => (
          <label key={name} class="switch">
            <input type="checkbox" checked={settings[name as keyof typeof SWITCHES]} onChange={({ currentTarget }) => change({ [name]: currentTarget.checked })} />
            {say(text)}
          </label>
        ))}
      </div>
    </Sheet>
  );
}

function NameForm() {
  const { connection } = useShared();
  const say = useSay();
  const [name, setName] = useState(connection.session.player.name);
  const [fault, setFault] = useState("");
  const save = (event: Event) => {
    event.preventDefault();
    connection.lobby.updatePlayer({ name }).then(() => setFault(""), (error: unknown) => setFault(refusalText(error, undefined, say)));
  };
  return (
    <form class="name-form" onSubmit={save}>
      <label for="player-name">{say("name")}</label>
      <input id="player-name" value={name} maxLength={128} autocomplete="nickname" onInput={({ currentTarget }) => setName(currentTarget.value)} />
      <button type="submit">{say("save")}</button>
      {fault !== "" && <p role="alert">{fault}</p>}
    </form>
  );
}
