// The secrets of a device, by which servers know its player.
import { randomId } from "./random_id.js";

const SECRET = "croupier device secret";

/** What this needs of a browser's store. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

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
