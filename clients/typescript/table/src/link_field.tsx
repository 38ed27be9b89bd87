// A link to pass on, in a field from which it can be copied by hand too.
import { useRef, useState } from "preact/hooks";

import { useSay } from "./texts/page_texts.js";

export function LinkField({ link }: { readonly link: string }) {
  const say = useSay();
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    field.current?.select();
    // The page may be one over plain HTTP, which has no other way.
    setCopied(document.execCommand("copy"));
  };
  return (
    <>
      <input class="link" ref={field} readOnly value={link} aria-label={say("copyLink")} onFocus={({ currentTarget }) => currentTarget.select()} />
      <button type="button" onClick={copy}>{isCopied ? say("copied") : say("copyLink")}</button>
    </>
  );
}
