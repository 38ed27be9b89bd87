// A proposal that waits for the votes of the seats.
import type { Table, Words } from "@croupier/client";
import { WordKind } from "@croupier/client/contract";

import { useTicks } from "../connection.js";
import { useSay } from "../texts/page_texts.js";

interface ProposalBarProps {
  readonly table: Table;
  readonly words: Words;
  readonly fail: (error: unknown) => void;
}

export function ProposalBar({ table, words, fail }: ProposalBarProps) {
  const { proposal, seat, isOver } = table;
  const say = useSay();
  useTicks(500, proposal !== undefined);
  const seconds = Math.ceil(table.proposalSecondsLeft ?? 0);
  // The end of its time is no event.
  if (proposal === undefined || seconds === 0 || isOver) return null;
  const { name, proposer, agreedSeats } = proposal;
  const vote = (isAgreed: boolean) => void table.vote(isAgreed).catch(fail);
  return (
    <section class="proposal" aria-live="polite" aria-label={say("propose")}>
      <p>
        {say("proposes", { seat: words.seat(proposer), proposal: words.word(WordKind.PROPOSAL, name) })}
        <small>{say("agreed", { seats: words.seats(agreedSeats) })} <span class="seconds" role="timer" aria-live="off">{say("seconds", { count: seconds })}</span></small>
      </p>
      {seat !== undefined && !agreedSeats.includes(seat) && (
        <div>
          <button type="button" class="main" onClick={() => vote(true)}>{say("agree")}</button>
          <button type="button" onClick={() => vote(false)}>{say("decline")}</button>
        </div>
      )}
    </section>
  );
}
