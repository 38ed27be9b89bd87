// Refusals and faults as sentences for people.
import { Code, ConnectError } from "@connectrpc/connect";

import { type Words, isOvertaken, reasonOf, ruleOf } from "@croupier/client";
import { ErrorReason } from "@croupier/client/contract";

import type { Say } from "./texts/page_texts.js";

/** Return a refusal as a sentence: the text of the game's rule, a text of the page, or that of the server. */
export function refusalText(error: unknown, words: Words | undefined, say: Say): string {
  const rule = ruleOf(error);
  const ofRule = rule === undefined ? undefined : words?.rule(rule);
  if (ofRule !== undefined) return ofRule;
  if (isOvertaken(error)) return say("tooLate");
  if (reasonOf(error) === ErrorReason.UNKNOWN_TABLE) return say("unknownTable");
  const fault = ConnectError.from(error);
  return fault.code === Code.Unavailable ? say("serverGone") : fault.rawMessage || say("failed");
}
