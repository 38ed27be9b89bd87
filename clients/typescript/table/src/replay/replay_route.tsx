// The address of a replay, whose screen is loaded when it is first shown: most visits need none.
import { useEffect, useState } from "preact/hooks";

import { HomeButton, Message } from "../message.js";
import type { ReplayRoute as Route } from "../route.js";
import { useSay } from "../texts/page_texts.js";

type Loaded = typeof import("./replay_screen.js");

export function ReplayRoute({ route }: { readonly route: Route }) {
  const say = useSay();
  const [loaded, setLoaded] = useState<Loaded | "failed">();
  useEffect(() => void import("./replay_screen.js").then((module) => setLoaded(module), () => setLoaded("failed")), []);
  if (loaded === undefined) return <Message text={say("connecting")} />;
  if (loaded !== "failed") return <loaded.ReplayScreen route={route} />;
  return (
    <Message text={say("serverGone")}>
      <button type="button" onClick={() => location.reload()}>{say("tryAgain")}</button>
      <HomeButton />
    </Message>
  );
}
