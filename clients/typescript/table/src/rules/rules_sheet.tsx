// The rules page of a game, opened at a rule.
import { createElement } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { useShared } from "../connection.js";
import { Sheet } from "../dialogs.js";
import { refusalText } from "../errors.js";
import { useSay } from "../texts/page_texts.js";
import { type Block, blocksOf, spansOf } from "./markdown.js";

interface RulesSheetProps {
  readonly game: string;
  /** The version; 0 for that of new tables. */
  readonly rulesVersion: number;
  /** The id of the rule to show; undefined for the beginning. */
  readonly rule: string | undefined;
  readonly title: string;
  readonly close: () => void;
}

export function RulesSheet({ game, rulesVersion, rule, title, close }: RulesSheetProps) {
  const { connection } = useShared();
  const say = useSay();
  const [blocks, setBlocks] = useState<readonly Block[]>([]);
  const [fault, setFault] = useState("");
  const text = useRef<HTMLDivElement>(null);
  useEffect(() => {
    connection.engine.getRules({ game, rulesVersion, language: connection.language }).then(
      ({ markdown }) => setBlocks(blocksOf(markdown)),
      (error: unknown) => setFault(refusalText(error, undefined, say)),
    );
  }, [game, rulesVersion]);
  useEffect(() => text.current?.querySelector(".is-asked")?.scrollIntoView({ block: "center" }), [blocks]);
  return (
    <Sheet title={title} close={close}>
      <div class="rules" ref={text} lang={connection.language}>
        {fault !== "" && <p role="alert">{fault}</p>}
        {blocks.map((block, index) => <BlockView key={index} block={block} rule={rule} />)}
      </div>
    </Sheet>
  );
}

function BlockView({ block, rule }: { readonly block: Block; readonly rule: string | undefined }) {
  const asked = (anchors: readonly string[]) => (rule !== undefined && anchors.includes(rule) ? "is-asked" : "");
  switch (block.kind) {
    case "heading":
      return createElement(`h${Math.min(6, block.level + 1)}`, { class: asked(block.anchors) }, <Line text={block.text} />);
    case "paragraph":
      return <p class={asked(block.anchors)}><Line text={block.text} /></p>;
    case "list":
      return <ul>{block.items.map(({ text, anchors }, index) => <li key={index} class={asked(anchors)}><Line text={text} /></li>)}</ul>;
    case "table":
      return (
        // A wide one is scrolled, also by the keyboard.
        <table tabIndex={0}>
          <thead><tr>{block.head.map((cell, index) => <th key={index}><Line text={cell} /></th>)}</tr></thead>
          <tbody>{block.rows.map((row, number) => <tr key={number}>{row.map((cell, index) => <td key={index}><Line text={cell} /></td>)}</tr>)}</tbody>
        </table>
      );
  }
}

const TAGS = { plain: "span", strong: "strong", emphasis: "em", code: "code" } as const;

function Line({ text }: { readonly text: string }) {
  return <>{spansOf(text).map((span, index) => createElement(TAGS[span.kind], { key: index }, span.text))}</>;
}
