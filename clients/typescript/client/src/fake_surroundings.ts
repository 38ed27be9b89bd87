// Surroundings that a test changes, in place of those of a browser.
import type { Surroundings } from "./surroundings.js";

/** A page that is shown or hidden, on a device with or without a network. */
export class FakeSurroundings implements Surroundings {
  isVisible = true;
  isOnline = true;
  network = "wifi";
  private readonly listeners = new Set<() => void>();

  subscribe(changed: () => void): () => void {
    this.listeners.add(changed);
    return () => void this.listeners.delete(changed);
  }

  /** Whether nobody listens any more. */
  get isUnused(): boolean {
    return this.listeners.size === 0;
  }

  become(values: Partial<Pick<Surroundings, "isVisible" | "isOnline" | "network">>): void {
    Object.assign(this, values);
    for (const listener of this.listeners) listener();
  }
}
