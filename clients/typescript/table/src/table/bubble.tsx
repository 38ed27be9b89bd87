// A word of a seat, such as its last bid, or a reaction.
export function Bubble({ text }: { readonly text: string }) {
  return <span class="bubble" key={text}>{text}</span>;
}
