// The link to a moment of a replay.
import { useState } from "preact/hooks";

import { Icon } from "../icons.js";
import { useSay } from "../texts/page_texts.js";

/** What of the navigator a page over plain HTTP lacks. */
type Sharing = { readonly share?: (data: ShareData) => Promise<void>; readonly clipboard?: Clipboard };

interface ShareButtonProps {
  /** The shown moment, whose link was not shared yet when it changes. */
  readonly moment: string;
  /** Returns the address that others can open. */
  readonly addressOf: () => Promise<string>;
}

export function ShareButton({ moment, addressOf }: ShareButtonProps) {
  const say = useSay();
  const [shared, setShared] = useState<{ readonly moment: string; readonly address: string; readonly isCopied: boolean }>();
  const share = () => void addressOf().then(async (address) => setShared({ moment, address, isCopied: await send(address) })).catch(() => {});
  const isShared = shared?.moment === moment;
  const label = say(isShared && shared.isCopied ? "copied" : "copyMoment");
  return (
    <>
      <button type="button" class="icon-button" aria-label={label} title={label} onClick={share}><Icon name={isShared && shared.isCopied ? "check" : "share"} /></button>
      {isShared && !shared.isCopied && <input class="moment-link" readOnly value={shared.address} aria-label={say("copyMoment")} onFocus={({ currentTarget }) => currentTarget.select()} />}
    </>
  );
}

/** Share or copy a link, and return whether it was; otherwise a person copies it from a field. */
async function send(url: string): Promise<boolean> {
  const { share, clipboard } = navigator as Sharing;
  // Only a touch screen has a sheet for sharing that is quicker than a copy. A person who closes it wants no copy.
  if (share !== undefined && matchMedia("(pointer: coarse)").matches) return share.call(navigator, { url }).then(() => true);
  return clipboard === undefined ? false : clipboard.writeText(url).then(() => true, () => false);
}
