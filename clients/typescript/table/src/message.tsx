// A screen with one sentence in place of what was asked for, and the ways on.
import type { ComponentChildren } from "preact";

import { useShared } from "./connection.js";
import { useSay } from "./texts/page_texts.js";

interface MessageProps {
  readonly text: string;
  /** Buttons. */
  readonly children?: ComponentChildren;
}

export function Message({ text, children }: MessageProps) {
  return <main class="page message"><p role="status">{text}</p>{children}</main>;
}

export function HomeButton() {
  const { go } = useShared();
  const say = useSay();
  return <button type="button" onClick={() => go({ screen: "home" })}>{say("home")}</button>;
}

/** A game that this page does not know: a newer page may know it. */
export function UnknownGame() {
  const say = useSay();
  return (
    <Message text={say("unknownGame")}>
      <button type="button" onClick={() => location.reload()}>{say("tryAgain")}</button>
      <HomeButton />
    </Message>
  );
}
