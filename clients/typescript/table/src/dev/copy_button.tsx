// The button that copies a text, from a field where it can be read and copied by hand too.
import { useRef, useState } from "preact/hooks";

interface CopyButtonProps {
  readonly label: string;
  readonly placeholder: string;
  readonly write: () => string;
}

export function CopyButton({ label, placeholder, write }: CopyButtonProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    if (field.current === null) return;
    field.current.value = write();
    field.current.select();
    // The page may be one over plain HTTP, which has no other way.
    setCopied(document.execCommand("copy"));
  };
  return (
    <>
      <button type="button" onClick={copy}>{label}</button>
      <textarea ref={field} readOnly rows={3} placeholder={placeholder} spellcheck={false} />
      {isCopied && <p role="status">Copied</p>}
    </>
  );
}
