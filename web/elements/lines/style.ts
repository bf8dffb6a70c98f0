/** Styles of `<head-lines>`: two sides of tokens around a canvas that stays while the tokens scroll behind it. */
export const STYLE = `
.heads {
  display: flex;
  flex-wrap: wrap;
  gap: 4px;
  max-height: 116px;
  overflow-y: auto;
  margin: -3px 0 7px;
  padding-block: 3px;
}
.heads button {
  display: inline-flex;
  align-items: center;
  gap: 5px;
  min-height: 28px;
  padding: 2px 7px;
  border: 1px solid var(--_line);
  border-radius: 6px;
  background: var(--_card);
  color: var(--_soft);
  font: inherit;
  font-size: 12.5px;
  cursor: pointer;
}
.heads button[aria-pressed="true"] {
  border-color: var(--_line-strong);
  color: var(--_ink);
}
.heads button:not([aria-pressed="true"]) canvas {
  opacity: 0.35;
}
.heads .off {
  text-decoration: line-through;
}
.heads canvas,
.sentence canvas {
  width: 22px;
  height: 10px;
}
:focus-visible {
  outline: 2px solid var(--_on);
  outline-offset: 1px;
}
/* What scrolls inside itself cuts off what stands out of it. */
.heads button:focus-visible {
  outline-offset: -1px;
}
.controls {
  display: flex;
  flex-wrap: wrap;
  gap: 6px 18px;
  margin-bottom: 10px;
  font-size: 12.5px;
}
.controls label {
  display: inline-flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 4px 7px;
  max-width: 100%;
  color: var(--_soft);
}
.controls select {
  padding: 4px 6px;
  border: 1px solid var(--_line-strong);
  border-radius: 6px;
  background: var(--_card);
  color: var(--_ink);
  font: inherit;
}
.controls input {
  width: 110px;
  margin: 0;
  accent-color: var(--_on);
}
.controls output {
  min-width: 3.4em;
  color: var(--_ink);
}
.names {
  display: flex;
  justify-content: space-between;
  margin-bottom: 3px;
  color: var(--_soft);
  font-size: 11px;
}
.scroll {
  position: relative;
  overflow: auto;
  border-block: 1px solid var(--_line);
  background: var(--_card);
}
.scroll.fits {
  overflow: hidden;
}
.view {
  position: sticky;
  inset: 0;
  overflow: clip;
}
.view canvas {
  position: absolute;
  pointer-events: none;
}
.all {
  transition: opacity 120ms;
}
.dimmed .all {
  opacity: 0.13;
}
.side {
  position: absolute;
}
.item {
  position: absolute;
  display: flex;
  align-items: center;
  gap: 8px;
  min-width: 0;
  overflow: hidden;
  border-radius: 4px;
  font-size: 13px;
  line-height: 1.2;
  cursor: pointer;
  user-select: none;
  -webkit-user-select: none;
}
.item .token {
  overflow: hidden;
  text-overflow: ellipsis;
}
.item:focus-visible {
  outline-offset: -2px;
}
.note {
  color: var(--_soft);
  font-size: 11.5px;
}
.note:empty {
  display: none;
}
.vertical .side {
  top: 0;
  height: 100%;
}
.vertical .query {
  inset-inline-start: 0;
}
.vertical .key {
  inset-inline-end: 0;
}
.vertical .item {
  inset-inline: 0;
  padding-inline: 6px;
}
.vertical .query .item {
  flex-direction: row-reverse;
  text-align: end;
}
.horizontal .side {
  left: 0;
  width: 100%;
}
.horizontal .query {
  top: 0;
}
.horizontal .key {
  bottom: 0;
}
.horizontal .item {
  top: 0;
  bottom: 0;
  justify-content: center;
  padding-inline: 2px;
}
.horizontal .note {
  display: none;
}
.item[data-looked] {
  background: var(--_pick-wash);
  color: var(--_pick-text);
  font-weight: 650;
}
.item[data-looked] .mark {
  color: inherit;
}
.item[aria-selected="true"] {
  box-shadow: inset 0 0 0 1.5px var(--_pick);
}
.dimmed .item:not([data-looked]):not([data-linked]) {
  color: var(--_soft);
}
.legend {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 14px;
  margin: 8px 0 0;
  color: var(--_soft);
  font-size: 12px;
  line-height: 1.4;
}
.sentence .looked,
.sentence .looked .mark {
  color: var(--_pick-text);
  font-weight: 650;
}
.sentence .series {
  white-space: nowrap;
  color: var(--_soft);
}
.sentence .link {
  white-space: nowrap;
}
@media (forced-colors: active) {
  .item[data-looked] {
    forced-color-adjust: none;
    background: Highlight;
    color: HighlightText;
  }
  .item[data-looked] .note {
    color: inherit;
  }
  .item[aria-selected="true"] {
    outline: 2px solid Highlight;
    outline-offset: -2px;
  }
  .heads button[aria-pressed="true"] {
    border-color: Highlight;
  }
}
@media (prefers-reduced-motion: reduce) {
  .all {
    transition: none;
  }
}
@media (pointer: coarse) {
  .heads {
    max-height: 134px;
  }
  .heads button {
    min-height: 36px;
  }
}
@media print {
  .controls, .sentence.hint {
    display: none;
  }
  .heads {
    max-height: none;
  }
  .scroll {
    overflow: hidden;
  }
}
`;
