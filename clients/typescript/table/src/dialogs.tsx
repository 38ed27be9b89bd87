// Dialogs: sheets at the lower edge of a phone, boxes in the middle of a larger screen.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { IconButton } from "./icons.js";
import { useSay } from "./texts/page_texts.js";

interface SheetProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Sheet({ title, close, children }: SheetProps) {
  const say = useSay();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // Else the browser would choose a button, which would look like the one to press.
    dialog.current?.focus();
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) close();
  };
  return (
    <dialog class="sheet" tabIndex={-1} ref={dialog} aria-labelledby="sheet-title" onClose={close} onClick={onClick}>
      <div class="sheet-body">
        <header>
          <h2 id="sheet-title">{title}</h2>
          <IconButton name="close" label={say("close")} onClick={close} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
