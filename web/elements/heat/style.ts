export const HEAT_STYLE = `
.frame {
  position: relative;
  contain: layout style;
  overflow: clip;
  overflow-clip-margin: 4px;
}
.corner, .box, .columns, .rows {
  position: absolute;
}
.corner {
  left: 0;
  top: 0;
  font-size: 11px;
  line-height: 1.3;
  white-space: nowrap;
  color: var(--_soft);
}
.box {
  cursor: crosshair;
  touch-action: pan-x pan-y;
  user-select: none;
  -webkit-user-select: none;
}
.box.zoomed {
  cursor: grab;
  touch-action: none;
}
.box.zoomed:active {
  cursor: grabbing;
}
.columns, .rows, .box {
  contain: size layout style;
}
.box canvas {
  position: absolute;
  inset: 0;
  width: 100%;
  height: 100%;
}
.label {
  position: absolute;
  font-size: 12px;
  line-height: 1;
  padding-block: 2px;
}
.turned {
  position: absolute;
}
.rows .turned {
  inset: 0;
}
/* Of no size: turned around the place where labels begin. */
.columns .turned {
  left: 3px;
  bottom: 4px;
}
.track {
  position: absolute;
  left: 0;
  width: 100%;
  height: 0;
  contain: size layout style;
  will-change: transform;
}
.rows .track {
  top: 0;
}
.columns .track {
  bottom: 0;
}
.label.crowded {
  visibility: hidden;
}
.small .label {
  font-size: 10.5px;
}
.label.long {
  overflow: hidden;
  text-overflow: ellipsis;
}
.label.picked, .label.picked .mark, .sentence .token, .sentence .token .mark {
  color: var(--_pick-text);
}
.label.picked {
  font-weight: 650;
}
.rows .label {
  right: 0;
  /* Half a line and its padding. */
  margin-top: calc(-0.5em - 2px);
}
.rows .track .label {
  top: 0;
}
.columns .track .label {
  left: 0;
  bottom: 0;
}
.cursor {
  position: absolute;
  left: 0;
  top: 0;
  pointer-events: none;
}
.cursor:focus {
  outline: none;
}
.cursor:focus-visible {
  outline: 2px solid var(--_on);
  outline-offset: 1px;
}
.foot {
  display: flex;
  flex-wrap: wrap;
  align-items: flex-start;
  justify-content: space-between;
  gap: 10px 20px;
  margin-top: 12px;
}
.foot .legend {
  flex: 1 1 260px;
}
.tools {
  display: flex;
  align-items: flex-start;
  gap: 6px;
}
.tools button {
  min-width: 32px;
  height: 32px;
  padding: 0 9px;
  font: inherit;
  font-size: 14px;
  color: var(--_ink);
  background: var(--_card);
  border: 1px solid var(--_line-strong);
  border-radius: 6px;
  cursor: pointer;
}
.tools button:hover:not(:disabled) {
  border-color: var(--_on);
}
.tools button:disabled {
  color: var(--_soft);
  border-color: var(--_line);
  cursor: default;
}
.tools button:focus-visible, .choice select:focus-visible {
  outline: 2px solid var(--_on);
  outline-offset: 2px;
}
.map {
  position: relative;
  flex: none;
  border: 1px solid var(--_line-strong);
  touch-action: none;
  cursor: pointer;
  overflow: hidden;
}
.map canvas {
  display: block;
}
.map i {
  position: absolute;
  left: 0;
  top: 0;
  border: 2px solid var(--_pick);
}
.sentence {
  margin: 12px 0 0;
  padding: 9px 13px;
  min-height: 40px;
  font-size: 14px;
  line-height: 1.5;
  background: var(--_pick-wash);
  border-left: 3px solid var(--_pick);
  border-radius: 0 6px 6px 0;
  overflow-wrap: anywhere;
}
/* Spaces stay, and a long token goes on in the next line. */
.sentence .token {
  white-space: pre-wrap;
}
.sentence.hint {
  color: var(--_soft);
  background: none;
  border-left-color: var(--_line);
}
@media print {
  .tools, .choice, .sentence.hint {
    display: none;
  }
}
`;
