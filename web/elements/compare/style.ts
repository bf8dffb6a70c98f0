/** Styles of `<head-compare>`: both sides beside each other where there is room, the difference beside or below them. */
export const STYLE = `
.maps {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 20px 26px;
  align-items: start;
}
.maps[data-columns="2"] {
  grid-template-columns: repeat(2, minmax(0, 1fr));
}
.maps[data-columns="2"] .difference {
  grid-column: 1 / -1;
  /* As wide as each of the two above it: the same cell is of the same size in all three. */
  width: calc((100% - 26px) / 2);
}
.maps[data-columns="3"] {
  grid-template-columns: repeat(3, minmax(0, 1fr));
}
.map {
  min-width: 0;
  margin: 0;
}
.caption {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 4px 12px;
  min-height: 32px;
  margin-bottom: 8px;
  font-size: 14px;
  font-weight: 650;
  overflow-wrap: anywhere;
}
select,
button {
  min-height: 30px;
  padding: 4px 8px;
  border: 1px solid var(--_line-strong);
  border-radius: 6px;
  background: var(--_card);
  color: var(--_ink);
  font: inherit;
  font-size: 13px;
  font-weight: 400;
}
:focus-visible {
  outline: 2px solid var(--_on);
  outline-offset: 1px;
}
.map > *::part(sentence),
.difference > *::part(legend) {
  display: none;
}
.legend {
  margin-top: 12px;
  color: var(--_soft);
  font-size: 12px;
  line-height: 1.4;
}
.legend canvas {
  display: block;
  width: 100%;
  height: 10px;
  border: 1px solid var(--_line);
  border-radius: 2px;
}
.ticks,
.meaning {
  display: flex;
  justify-content: space-between;
  gap: 12px;
}
.obstacle {
  margin: 0 0 10px;
}
.sentence .token,
.sentence .token .mark {
  color: var(--_pick-text);
}
@media (pointer: coarse) {
  .map :is(select, button) {
    min-height: 38px;
  }
}
@media print {
  .map :is(select, button) {
    display: none;
  }
}
`;
