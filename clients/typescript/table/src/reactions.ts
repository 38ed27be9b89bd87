// The part of the page by which a player reacts.
import type { Reaction, ReactionDescription } from "@croupier/client/contract";
import { element, make } from "./dom.js";

/** Shows a reaction that is newer than the list of the lobby. */
const UNKNOWN = "❔";

/** Offer the reactions as buttons with emoji. */
export function offerReactions(reactions: readonly ReactionDescription[], send: (reaction: Reaction) => void): void {
  const buttons = reactions.map(({ reaction, emoji, text }) => {
    const button = make("button", { title: text, ariaLabel: text }, emoji);
    button.onclick = () => send(reaction);
    return button;
  });
  element("reactions").replaceChildren(...buttons);
}

/** Return the emoji of a reaction. */
export function emojiOf(reaction: Reaction, reactions: readonly ReactionDescription[]): string {
  return reactions.find((described) => described.reaction === reaction)?.emoji ?? UNKNOWN;
}
