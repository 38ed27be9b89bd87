// The rules of a game, with an engine and a page in memory.
import assert from "node:assert/strict";
import { test } from "vitest";

import { createClient, createRouterTransport } from "@connectrpc/connect";

import { EngineService, LobbyService } from "@croupier/client/contract";
import { fakePage } from "./fake_page.js";
import { showRules } from "./rules_page.js";

const MARKDOWN = '# Thulla\n\n- <a id="THU-PLAY-1"></a>**THU-PLAY-1** <b>One</b>\n- <a id="THU-PLAY-3"></a>**THU-PLAY-3** Three\n- <a id="101-D8a"></a>**101-D8a** Eight\n';

test("the rules are shown as they are written, from the rule on, until they are closed", async () => {
  const find = fakePage();
  const asked: unknown[] = [];
  const transport = createRouterTransport(({ service }) =>
    service(EngineService, {
      getRules({ game, rulesVersion, language }) {
        asked.push([game, rulesVersion, language]);
        return { markdown: MARKDOWN, language: "en" };
      },
    }),
  );
  const client = { lobby: createClient(LobbyService, transport), engine: createClient(EngineService, transport) };
  let scrolled = 0;
  find("THU-PLAY-3").addEventListener("scrolled", () => (scrolled += 1));
  await showRules(client, { game: "thulla", rulesVersion: 2, language: "nb" }, "THU-PLAY-3");
  assert.deepEqual(asked, [["thulla", 2, "nb"]]);
  assert.equal(find("rules-text").textContent, MARKDOWN.replace(/<a id="[^"]*"><\/a>/g, ""));
  assert.deepEqual(find("rules-text").all("span").map((anchor) => Reflect.get(anchor, "id")), ["THU-PLAY-1", "THU-PLAY-3", "101-D8a"]);
  assert.deepEqual([find("rules-text").lang, find("rules").hidden, scrolled], ["en", false, 1]);
  find("close-rules").onclick?.();
  assert.ok(find("rules").hidden);
});
