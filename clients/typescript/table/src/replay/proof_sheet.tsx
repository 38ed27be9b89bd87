// Whether the deals of a table follow from its seed: a badge, and a sheet with each deal.
import { useState } from "preact/hooks";

import type { Proof } from "@croupier/client/replays";

import { Sheet } from "../dialogs.js";
import { Icon } from "../icons.js";
import { useSay } from "../texts/page_texts.js";
import { useProof } from "./use_replay.js";

export function ProofBadge({ id, link }: { readonly id: string; readonly link: string }) {
  const say = useSay();
  const { value: proof, fault } = useProof(id, link);
  const [isOpen, setOpen] = useState(false);
  if (proof === undefined) return <span class="proof-badge" role="status">{say(fault === undefined ? "proofRuns" : "proofFails")}</span>;
  return (
    <>
      <button type="button" class="proof-badge" data-proved={proof.isProved} onClick={() => setOpen(true)}>
        <Icon name={proof.isProved ? "check" : "close"} />{say(proof.isProved ? "dealVerified" : "dealNotVerified")}
      </button>
      {isOpen && <ProofSheet proof={proof} close={() => setOpen(false)} />}
    </>
  );
}

function ProofSheet({ proof, close }: { readonly proof: Proof; readonly close: () => void }) {
  const say = useSay();
  return (
    <Sheet title={say(proof.isProved ? "dealVerified" : "dealNotVerified")} close={close}>
      <p>{say(proof.isProved ? "proofSays" : "proofDenies")} {say("proofLimits")}</p>
      <dl class="proof">
        <dt>{say("commitment")}</dt>
        <dd data-proved={proof.isCommitted}><code>{proof.commitment}</code></dd>
        <dt>{say("seed")}</dt>
        <dd><code>{proof.seed}</code></dd>
      </dl>
      <ol class="deals">
        {proof.deals.map(({ round, shuffle, line, isProved }) => (
          <li key={line} data-proved={isProved}>{say("dealOf", { round, shuffle })}<span>{say(isProved ? "proved" : "notProved")}</span></li>
        ))}
      </ol>
    </Sheet>
  );
}
