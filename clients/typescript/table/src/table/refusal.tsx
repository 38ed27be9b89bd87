// Why an action was refused, with a way to the rule.
import { useState } from "preact/hooks";

import type { GameDescription } from "@croupier/client/contract";

import { IconButton } from "../icons.js";
import { RulesSheet } from "../rules/rules_sheet.js";
import { useSay } from "../texts/page_texts.js";

export interface Refused {
  readonly text: string;
  /** The id of the rule, if one refused it. */
  readonly rule: string | undefined;
}

interface RefusalProps {
  readonly refused: Refused;
  readonly game: GameDescription;
  readonly rulesVersion: number;
  readonly close: () => void;
}

export function Refusal({ refused: { text, rule }, game, rulesVersion, close }: RefusalProps) {
  const say = useSay();
  const [isRead, setRead] = useState(false);
  return (
    <div class="refusal" role="alert">
      <p>{text}</p>
      {rule !== undefined && <button type="button" onClick={() => setRead(true)}>{say("ruleSays")}</button>}
      <IconButton name="close" label={say("close")} onClick={close} />
      {isRead && <RulesSheet game={game.game} rulesVersion={rulesVersion} rule={rule} title={game.name} close={() => setRead(false)} />}
    </div>
  );
}
