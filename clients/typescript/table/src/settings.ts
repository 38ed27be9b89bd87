// The person's settings, which the browser keeps.
import type { Language } from "@croupier/client";

export interface Settings {
  /** Undefined for that of the browser. */
  readonly language: Language | undefined;
  readonly theme: "system" | "light" | "dark";
  readonly hasFourColours: boolean;
  /** Whether a tap on a card plays it, without lifting it first. */
  readonly playsByOneTap: boolean;
  readonly hasSounds: boolean;
  readonly vibrates: boolean;
}

export const DEFAULTS: Settings = {
  language: undefined,
  theme: "system",
  hasFourColours: false,
  playsByOneTap: false,
  hasSounds: false,
  vibrates: false,
};

const KEY = "croupier settings";

/** Return the settings that a store has; those that it lacks, or that are not readable, are the defaults. */
export function readSettings(store: Pick<Storage, "getItem">): Settings {
  try {
    const kept: unknown = JSON.parse(store.getItem(KEY) ?? "{}");
    return { ...DEFAULTS, ...(typeof kept === "object" ? kept : {}) };
  } catch {
    return DEFAULTS;
  }
}

export function keepSettings(store: Pick<Storage, "setItem">, settings: Settings): void {
  store.setItem(KEY, JSON.stringify(settings));
}
