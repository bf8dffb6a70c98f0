/** Styles of `<shape-trace>`: cards in rows where there is room, in one line that scrolls inside itself where not. */
export const STYLE = `
.scroll {
  overflow-x: auto;
  padding-block: 3px;
  margin-block: -3px;
}
.scroll:focus-visible,
button:focus-visible {
  outline: 2px solid var(--_on);
  outline-offset: 1px;
}
/* What scrolls inside itself cuts off what stands out of it. */
.scroll:focus-visible,
.scroll button:focus-visible {
  outline-offset: -2px;
}
ol {
  display: grid;
  grid-template-columns: repeat(var(--columns, 5), minmax(0, 1fr));
  gap: 12px 26px;
  margin: 0;
  padding: 0;
  list-style: none;
}
.line ol {
  display: flex;
}
.line li {
  flex: 0 0 132px;
}
li {
  position: relative;
  display: grid;
}
li:not(:last-child)::after {
  content: "→";
  position: absolute;
  inset-inline-end: -20px;
  top: 26px;
  color: var(--_soft);
}
[dir="rtl"] li:not(:last-child)::after {
  content: "←";
}
.step {
  display: grid;
  align-content: start;
  justify-items: start;
  gap: 2px;
  min-width: 0;
  padding: 10px 12px 11px;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--_card);
  color: inherit;
  font: inherit;
  font-size: 13px;
  line-height: 1.35;
  text-align: start;
  cursor: pointer;
}
.step:hover {
  border-color: var(--_line-strong);
}
.step[aria-expanded="true"] {
  border-color: var(--_pick);
  box-shadow: inset 0 0 0 1px var(--_pick);
}
.step b {
  font-weight: 650;
}
.step code {
  font-size: 12px;
  overflow-wrap: anywhere;
}
.step .facts,
.step .strides {
  color: var(--_soft);
  font-size: 12px;
}
.details {
  margin-top: 14px;
  padding: 12px 14px 14px;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--_card);
  font-size: 13.5px;
  line-height: 1.45;
}
.details header {
  display: flex;
  justify-content: space-between;
  align-items: start;
  gap: 12px;
}
.title {
  margin: 0;
  font-size: 14px;
  font-weight: 650;
}
.note {
  margin: 4px 0 10px;
  max-width: 75ch;
}
.close {
  flex: none;
  width: 30px;
  height: 30px;
  margin: -6px -6px 0 0;
  border: 0;
  border-radius: 6px;
  background: none;
  color: var(--_soft);
  font: 18px/1 var(--_sans);
  cursor: pointer;
}
.close:hover {
  color: var(--_ink);
}
.table {
  overflow-x: auto;
}
.hs > .table {
  margin-top: 16px;
}
table {
  border-collapse: collapse;
  font-size: 12.5px;
  white-space: nowrap;
}
caption {
  padding-bottom: 4px;
  color: var(--_soft);
  text-align: start;
}
th,
td {
  padding: 4px 16px 4px 0;
  border-bottom: 1px solid var(--_line);
  text-align: start;
}
tr > :last-child {
  padding-inline-end: 0;
}
th {
  color: var(--_soft);
  font-weight: 500;
}
tbody th {
  color: var(--_ink);
  font-family: var(--_mono);
}
.number {
  text-align: end;
}
.map {
  margin: 12px 0 0;
}
.map figcaption {
  margin-bottom: 6px;
  color: var(--_soft);
}
.cells {
  display: flex;
  flex-wrap: wrap;
  gap: 3px;
}
.cells span {
  display: grid;
  place-content: center;
  min-width: 26px;
  height: 26px;
  border: 1px solid var(--_line);
  border-bottom: 4px solid var(--hue, var(--_line));
  border-radius: 4px;
  font: 11px/1 var(--_mono);
}
.map ul {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 18px;
  margin: 8px 0 0;
  padding: 0;
  list-style: none;
  font-size: 12.5px;
}
.map li {
  display: flex;
  align-items: center;
  gap: 6px;
}
.map li::before {
  content: "";
  width: 12px;
  height: 4px;
  background: var(--hue);
}
.map li::after {
  content: none !important;
}
@media (pointer: coarse) {
  .close {
    width: 40px;
    height: 40px;
  }
}
@media print {
  .scroll {
    overflow: visible;
  }
  .line ol {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(132px, 1fr));
  }
}
`;
