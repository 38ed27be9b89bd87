// The eyes of a replay as its address writes them.
import type { Viewer } from "@croupier/client";

/** Return the viewer of an address: "all", the number of a seat, or a spectator. */
export function eyesOf(text: string): Viewer {
  if (text === "all") return text;
  return /^\d{1,2}$/.test(text) ? Number(text) : undefined;
}

/** Return a viewer as an address writes them. */
export function eyesText(eyes: Viewer): string {
  return eyes?.toString() ?? "";
}
