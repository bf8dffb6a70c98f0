export const GRID_STYLE = `
.grid {
  display: grid;
  gap: var(--gap);
}
.row {
  position: relative;
  display: grid;
  grid-template-columns: repeat(var(--columns), var(--card));
  gap: var(--gap);
}
.card {
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  align-content: start;
  align-items: center;
  padding: 8px;
  background: var(--_card);
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  cursor: pointer;
  -webkit-tap-highlight-color: transparent;
}
.narrow .card {
  padding: 5px;
}
.card:hover {
  border-color: var(--_line-strong);
}
.card[aria-selected="true"] {
  border-color: var(--_pick);
}
.card.main {
  border-color: var(--_pick);
  outline: 1px solid var(--_pick);
  outline-offset: -2px;
}
.card:focus-visible, .card input:focus-visible {
  outline: 2px solid var(--_on);
  outline-offset: 2px;
}
.picture {
  position: relative;
  grid-column: 1 / -1;
  height: var(--thumb);
}
@media screen {
  .far canvas {
    visibility: hidden;
  }
}
.picture canvas {
  display: block;
  width: 100%;
  height: 100%;
  image-rendering: pixelated;
}
/* Over the pictures of a row of cards. */
.marks {
  position: absolute;
  left: var(--mark-left);
  top: var(--mark-top);
  display: grid;
  grid-auto-flow: column;
  grid-auto-columns: var(--mark-width);
  gap: calc(var(--card) - var(--mark-width) + var(--gap));
  opacity: 0.75;
  pointer-events: none;
  will-change: transform;
}
.marks i {
  height: max(2px, var(--mark));
  border: solid var(--_pick);
  border-width: 1px 0;
}
.marks i.off {
  opacity: 0.4;
}
.name {
  margin-top: 6px;
  font-size: 13px;
  font-weight: 650;
}
.card input {
  width: 16px;
  height: 16px;
  margin: 6px 0 0;
  accent-color: var(--_on);
  cursor: pointer;
}
.caption {
  grid-column: 1 / -1;
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  gap: 0 8px;
  font-size: 12.5px;
  line-height: 1.35;
  color: var(--_soft);
  overflow-wrap: anywhere;
}
.narrow .caption {
  font-size: 11px;
  line-height: 1.25;
}
.narrow .measure {
  display: none;
}
/* A head that is off fades; its words only soften, so that they stay readable. */
.card.off .picture {
  opacity: 0.28;
}
.card.off .name {
  color: var(--_soft);
}
@media (pointer: coarse) {
  .card input {
    width: 22px;
    height: 22px;
  }
}
`;
