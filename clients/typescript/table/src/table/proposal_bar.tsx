// A proposal that waits for the votes of the seats, and how the last one ended.
import { useEffect, useState } from "preact/hooks";

import type { Table, Words } from "@croupier/client";
import { type Proposal, WordKind } from "@croupier/client/contract";

import { useTicks } from "../connection.js";
import { useSay } from "../texts/page_texts.js";
import { type ProposalOutcome, outcomeOf } from "./proposal_outcome.js";

const OUTCOME_MILLISECONDS = 6_000;

interface ProposalBarProps {
  readonly table: Table;
  readonly words: Words;
  readonly fail: (error: unknown) => void;
}

export function ProposalBar({ table, words, fail }: ProposalBarProps) {
  const { proposal, seat, isOver } = table;
  const say = useSay();
  const ended = useEnded(table);
  useTicks(500, proposal !== undefined);
  const seconds = Math.ceil(table.proposalSecondsLeft ?? 0);
  // The end of its time is no event.
  const pending = seconds === 0 || isOver ? undefined : proposal;
  return (
    <section class="proposal" aria-live="polite" aria-label={say("propose")} hidden={pending === undefined && ended === undefined}>
      {pending === undefined && ended !== undefined && (
        <p>{words.word(WordKind.PROPOSAL, ended.name)}: {ended.kind === "declined" ? say("proposalDeclined", { seat: words.seat(ended.seat) }) : say(ended.kind === "agreed" ? "proposalAgreed" : "proposalLapsed")}</p>
      )}
      {pending !== undefined && (
        <p>
          {say("proposes", { seat: words.seat(pending.proposer), proposal: words.word(WordKind.PROPOSAL, pending.name) })}
          <small>{say("agreed", { seats: words.seats(pending.agreedSeats) })} <span class="seconds" role="timer" aria-live="off">{say("seconds", { count: seconds })}</span></small>
        </p>
      )}
      {pending !== undefined && seat !== undefined && !pending.agreedSeats.includes(seat) && <Vote table={table} fail={fail} />}
    </section>
  );
}

function Vote({ table, fail }: Pick<ProposalBarProps, "table" | "fail">) {
  const say = useSay();
  const vote = (isAgreed: boolean) => void table.vote(isAgreed).catch(fail);
  return (
    <div>
      <button type="button" class="main" onClick={() => vote(true)}>{say("agree")}</button>
      <button type="button" onClick={() => vote(false)}>{say("decline")}</button>
    </div>
  );
}

type Ended = ProposalOutcome & { readonly name: string };

/** Return how the last proposal ended, for a while. */
function useEnded(table: Table): Ended | undefined {
  const [ended, setEnded] = useState<Ended>();
  useEffect(() => {
    let before: Proposal | undefined = table.proposal;
    return table.subscribe((change) => {
      const known = before;
      before = table.proposal;
      if (change.kind !== "event" || change.event.eventKind.case !== "update" || known === undefined) return;
      const outcome = outcomeOf(known, change.event.eventKind.value, table.seats.length);
      if (outcome !== undefined) setEnded({ ...outcome, name: known.name });
    });
  }, [table]);
  useEffect(() => {
    if (ended === undefined) return undefined;
    const timer = setTimeout(() => setEnded(undefined), OUTCOME_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [ended]);
  return ended;
}
