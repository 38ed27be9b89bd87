// The secrets of a device, by which servers know its player.
import { randomId } from "./random_id.js";

const SECRET = "croupier device secret";

/** Keeps texts by their names, as the stores of a browser do. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Return a store that keeps texts as long as the program runs. */
export function memoryStore(): Store {
  const texts = new Map<string, string>();
  return {
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
    removeItem: (key) => void texts.delete(key),
  };
}

/** Return the store of the browser; one in memory outside of a browser, and where the person has forbidden stores. */
export function ownStore(): Store {
  try {
    return typeof document === "undefined" ? memoryStore() : localStorage;
  } catch {
    return memoryStore();
  }
}

/** A device as one server knows it: a server that knew the secret for another could play there in the player's name. */
export class Device {
  private readonly key: string;

  constructor(
    private readonly store: Store,
    server: string,
  ) {
    this.key = `${SECRET} ${server}`;
  }

  /** Return the secret of the device; undefined before the first sign-in. */
  get secret(): string | undefined {
    return this.store.getItem(this.key) ?? undefined;
  }

  /** Return the secret for a sign-in: a new one before the first, and for a code, which adds a device that has no player. */
  secretFor(deviceCode: string): string {
    return (deviceCode === "" ? this.secret : undefined) ?? randomId();
  }

  /** Keep a secret once it has signed in. */
  keep(secret: string): void {
    this.store.setItem(this.key, secret);
  }

  /** Forget the secret of a player who is deleted. */
  forget(): void {
    this.store.removeItem(this.key);
  }
}
