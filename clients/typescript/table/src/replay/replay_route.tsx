// The address of a replay, whose screen is loaded when it is first shown: most visits need none.
import { useEffect, useState } from "preact/hooks";

import { useShared } from "../connection.js";
import type { ReplayRoute as Route } from "../route.js";
import { useSay } from "../texts/page_texts.js";

type Loaded = typeof import("./replay_screen.js");

export function ReplayRoute({ route }: { readonly route: Route }) {
  const { go } = useShared();
  const say = useSay();
  const [loaded, setLoaded] = useState<Loaded | "failed">();
  useEffect(() => void import("./replay_screen.js").then((module) => setLoaded(module), () => setLoaded("failed")), []);
  if (loaded === undefined) return <main class="page message"><p role="status">{say("connecting")}</p></main>;
  if (loaded !== "failed") return <loaded.ReplayScreen route={route} />;
  return (
    <main class="page message">
      <p role="status">{say("serverGone")}</p>
      <button type="button" onClick={() => location.reload()}>{say("tryAgain")}</button>
      <button type="button" onClick={() => go({ screen: "home" })}>{say("home")}</button>
    </main>
  );
}
