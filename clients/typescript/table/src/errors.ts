// Refusals and faults as sentences for people.
import { Code, ConnectError } from "@connectrpc/connect";

import { type Table, type Words, isOvertaken, metadataOf, reasonOf, ruleOf } from "@croupier/client";
import { ErrorReason } from "@croupier/client/contract";

import type { Say } from "./texts/page_texts.js";

/** The package of the games that have no other one. */
const OWN_PACKAGE = "croupier";
/** Refusals of a table that waits until the operator has installed or mended the package of its rules. */
const OF_RULES = new Map<ErrorReason | undefined, "rulesMissing" | "rulesFailed">([
  [ErrorReason.RULES_MISSING, "rulesMissing"],
  [ErrorReason.RULES_FAILED, "rulesFailed"],
]);

/** Return a refusal as a sentence: the text of the game's rule, a text of the page, or that of the server. */
export function refusalText(error: unknown, words: Words | undefined, say: Say): string {
  const rule = ruleOf(error);
  const ofRule = rule === undefined ? undefined : words?.rule(rule);
  if (ofRule !== undefined) return ofRule;
  if (isOvertaken(error)) return say("tooLate");
  if (reasonOf(error) === ErrorReason.UNKNOWN_TABLE) return say("unknownTable");
  const ofRules = OF_RULES.get(reasonOf(error));
  if (ofRules !== undefined) return say(ofRules, { package: metadataOf(error)["package"] || OWN_PACKAGE });
  const fault = ConnectError.from(error);
  return fault.code === Code.Unavailable ? say("serverGone") : fault.rawMessage || say("failed");
}

/**
 * Return why nothing happens at a table, as a sentence: its stream was refused for good, or its rules are missing or have
 * failed, so that it is tried again now and then; undefined while it is played, or the connection is lost.
 */
export function standstillOf({ status, error }: Pick<Table, "status" | "error">, words: Words | undefined, say: Say): string | undefined {
  return status === "failed" || OF_RULES.has(reasonOf(error)) ? refusalText(error, words, say) : undefined;
}
