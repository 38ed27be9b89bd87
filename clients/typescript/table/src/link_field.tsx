// A link to pass on, in a field from which it can be copied by hand too.
import { useRef, useState } from "preact/hooks";

import { useSay } from "./texts/page_texts.js";

export function LinkField({ link }: { readonly link: string }) {
  const say = useSay();
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    field.current?.select();
    void copied(link).then(setCopied);
  };
  return (
    <>
      <input class="link" ref={field} readOnly value={link} aria-label={say("copyLink")} onFocus={({ currentTarget }) => currentTarget.select()} />
      <button type="button" onClick={copy}>{isCopied ? say("copied") : say("copyLink")}</button>
    </>
  );
}

/** Copy a text that is selected, and return whether that was possible: a page over plain HTTP has no clipboard. */
async function copied(text: string): Promise<boolean> {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (clipboard !== undefined) return clipboard.writeText(text).then(() => true, () => false);
  return document.execCommand("copy");
}
