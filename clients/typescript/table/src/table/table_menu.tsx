// What a person can do at a table beside playing cards.
import { useState } from "preact/hooks";

import { type Table, type Words } from "@croupier/client";
import { type ProposalDescription, WordKind } from "@croupier/client/contract";

import { useShared } from "../connection.js";
import { Sheet } from "../dialogs.js";
import { RulesSheet } from "../rules/rules_sheet.js";
import { SettingsSheet } from "../settings_sheet.js";
import { useSay } from "../texts/page_texts.js";
import { ProposeSheet } from "./propose_sheet.js";

interface TableMenuProps {
  readonly table: Table;
  readonly words: Words;
  readonly close: () => void;
  readonly fail: (error: unknown) => void;
  readonly open: (sheet: "scores" | "piles" | "link") => void;
}

export function TableMenu({ table, words, close, fail, open: openSheet }: TableMenuProps) {
  const { go } = useShared();
  const say = useSay();
  const [open, setOpen] = useState<"rules" | "settings" | ProposalDescription>();
  const { game } = words;
  const run = (call: () => Promise<void>) => () => {
    close();
    void call().catch(fail);
  };
  const isSeated = table.seat !== undefined && !table.isOver;
  if (open === "rules") return <RulesSheet game={game.game} rulesVersion={table.rulesVersion} rule={undefined} title={game.name} close={close} />;
  if (open === "settings") return <SettingsSheet close={close} />;
  if (open !== undefined) return <ProposeSheet table={table} proposal={open} words={words} close={close} fail={fail} />;
  return (
    <Sheet title={say("menu")} close={close}>
      <div class="menu">
        <button type="button" onClick={() => openSheet("scores")}>{say("scoreSheet")}</button>
        <button type="button" onClick={() => openSheet("piles")}>{say("cardsOfTable")}</button>
        <button type="button" onClick={() => setOpen("rules")}>{say("rules")}</button>
        <button type="button" onClick={() => setOpen("settings")}>{say("settings")}</button>
        {isSeated && game.proposals.map((proposal) => (
          <button key={proposal.name} type="button" onClick={() => setOpen(proposal)}>{say("propose")}: {words.word(WordKind.PROPOSAL, proposal.name)}</button>
        ))}
        {isSeated && <button type="button" onClick={() => openSheet("link")}>{say("letWatch")}</button>}
        {isSeated && !table.isAway && <button type="button" onClick={run(() => table.leave())}>{say("leaveSeat")}</button>}
        {isSeated && table.isAway && <button type="button" class="primary" onClick={run(() => table.return())}>{say("returnToSeat")}</button>}
        <button type="button" onClick={() => go({ screen: "home" })}>{say("home")}</button>
      </div>
    </Sheet>
  );
}
