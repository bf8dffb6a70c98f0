import { defineElements, type ViewState } from "headscope/elements";
import type {} from "headscope/elements/react";
import { useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { tokens, weights } from "./data.js";

defineElements();

function App() {
  const [head, setHead] = useState(0);
  const grid = useRef<HTMLElementTagNameMap["head-grid"]>(null);
  const state: ViewState | undefined = grid.current?.state;
  return (
    <>
      <head-grid
        ref={grid}
        weights={weights}
        tokens={tokens}
        causal
        fixed
        className="heads"
        onpick={(event) => setHead(event.detail.head)}
      />
      <head-heatmap weights={weights} tokens={tokens} head={head} scale="head" />
      <output>{`head ${head}${state ? `, first ${state.heads[0]}` : ""}`}</output>
    </>
  );
}

// @ts-expect-error there is no such property
export const misspelt = <head-grid wieghts={weights} />;
// @ts-expect-error no such scale
export const wrong = <head-heatmap scale="cubic" />;

createRoot(document.querySelector("#app") as HTMLElement).render(<App />);
