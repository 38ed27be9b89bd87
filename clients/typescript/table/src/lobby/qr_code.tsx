// A text as a QR code.
import { generate } from "lean-qr";

/** The quiet border that readers need, in modules. */
const BORDER = 3;

export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const code = generate(text);
  const numbers = Array.from({ length: code.size }, (_, number) => number);
  const path = numbers.flatMap((y) => numbers.filter((x) => code.get(x, y)).map((x) => `M${x + BORDER} ${y + BORDER}h1v1h-1z`)).join("");
  const side = code.size + 2 * BORDER;
  return (
    <svg class="qr-code" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={side} height={side} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
