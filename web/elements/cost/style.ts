/** Styles of `<cost-bills>`: controls beside the bills where there is room. */
export const STYLE = `
.parts {
  display: grid;
  gap: 18px;
}
.parts[data-wide="true"] {
  grid-template-columns: minmax(290px, 340px) minmax(0, 1fr);
  align-items: start;
}
form {
  display: grid;
  gap: 8px;
  margin: 0;
  padding: 14px 16px 16px;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--_card);
  font-size: 13.5px;
}
.control {
  display: grid;
  grid-template-columns: minmax(0, 1fr) 104px;
  gap: 0 12px;
  align-items: center;
}
.control > label {
  grid-column: 1;
}
.control > input[type="range"] {
  grid-row: 2;
  grid-column: 1;
}
.control > input[type="number"] {
  grid-row: 1 / 3;
  grid-column: 2;
}
.control > .wrong {
  grid-column: 1 / -1;
}
.choice {
  display: grid;
  grid-template-columns: 74px minmax(0, 1fr);
  align-items: center;
}
.check {
  display: flex;
  align-items: center;
  gap: 8px;
  color: var(--_soft);
}
input,
select {
  margin: 0;
  color: inherit;
  font: inherit;
  font-variant-numeric: tabular-nums;
}
input[type="range"] {
  width: 100%;
  height: 22px;
  accent-color: var(--_on);
  cursor: pointer;
}
input[type="checkbox"] {
  width: 16px;
  height: 16px;
  accent-color: var(--_on);
}
input[type="number"],
select {
  width: 100%;
  min-width: 0;
  padding: 5px 8px;
  border: 1px solid var(--_line-strong);
  border-radius: 7px;
  background: var(--_paper);
}
input[type="number"] {
  text-align: end;
}
input[type="number"][aria-invalid="true"] {
  border-color: var(--_problem);
}
input:disabled {
  color: var(--_soft);
  cursor: default;
}
:focus-visible {
  outline: 2px solid var(--_on);
  outline-offset: 1px;
}
.wrong {
  color: var(--_problem);
  font-size: 12.5px;
}
.bills {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 12px;
}
.bills[data-columns="2"] {
  grid-template-columns: repeat(2, minmax(0, 1fr));
}
.bills[data-columns="4"] {
  grid-template-columns: repeat(4, minmax(0, 1fr));
}
.bill {
  min-width: 0;
  padding: 13px 15px 14px;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--_card);
  font-size: 13px;
  line-height: 1.45;
}
.bill p {
  margin: 0;
  color: var(--_soft);
  overflow-wrap: anywhere;
}
.bill .figure {
  color: var(--_ink);
  font-size: 21px;
  font-weight: 650;
  line-height: 1.3;
}
.bill .figure.long {
  font-size: 17px;
  line-height: 1.6;
}
.bill .what {
  margin-bottom: 6px;
  color: var(--_ink);
}
.notes {
  grid-column: 1 / -1;
  display: grid;
  gap: 8px;
  font-size: 13.5px;
  line-height: 1.45;
}
.notes p {
  max-width: 80ch;
  margin: 0;
  color: var(--_soft);
}
.notes .finding {
  color: var(--_ink);
}
.notes button {
  min-height: 28px;
  margin: 3px 0 0 6px;
  padding: 2px 9px;
  border: 1px solid var(--_line-strong);
  border-radius: 6px;
  background: var(--_card);
  color: inherit;
  font: inherit;
  font-variant-numeric: tabular-nums;
  cursor: pointer;
}
.gauge {
  position: relative;
  height: 34px;
  margin-top: 8px;
}
.gauge .track,
.gauge .fill {
  position: absolute;
  inset-inline-start: 0;
  top: 20px;
  height: 10px;
  border-radius: 3px;
}
.gauge .track {
  width: 100%;
  border: 1px solid var(--_line-strong);
}
.gauge .fill {
  width: var(--part);
  background: var(--_on);
}
.gauge.beyond .fill {
  background: var(--_pick);
}
.gauge .line {
  position: absolute;
  inset-inline-start: var(--limit);
  top: 15px;
  height: 19px;
  border-inline-start: 2px solid var(--_ink);
}
.gauge .label {
  position: absolute;
  inset-inline-end: calc(100% - var(--limit) - 22px);
  top: 0;
  color: var(--_ink);
  font-size: 11px;
  line-height: 14px;
  white-space: nowrap;
}
@media (forced-colors: active) {
  .gauge .fill {
    forced-color-adjust: none;
    background: Highlight;
  }
}
@media (pointer: coarse) {
  input[type="range"] {
    height: 34px;
  }
  .notes button {
    min-height: 36px;
  }
}
@media print {
  .gauge * {
    print-color-adjust: exact;
    -webkit-print-color-adjust: exact;
  }
}
`;
