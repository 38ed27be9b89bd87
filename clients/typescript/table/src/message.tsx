// A screen with one sentence in place of what was asked for, and the ways on.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { useShared } from "./connection.js";
import { useSay } from "./texts/page_texts.js";

/** An engine that has its rules again continues a table within this time. */
const READ_MILLISECONDS = 60_000;

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

/** As long as the server did not offer a game when it was asked last: its rules may just have been installed again. */
export function UnknownGame() {
  const { readGames } = useShared();
  const say = useSay();
  useEffect(() => {
    readGames();
    const timer = setInterval(readGames, READ_MILLISECONDS);
    return () => clearInterval(timer);
  }, []);
  return <Message text={say("unknownGame")}><HomeButton /></Message>;
}
