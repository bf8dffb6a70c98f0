/** The box of a sentence that reads what is looked at, and of one that explains. */
export const SENTENCE_STYLE = `
.sentence,
.explained {
  margin: 0;
  padding: 9px 13px;
  border-inline-start: 3px solid var(--_pick);
  border-radius: 0 8px 8px 0;
  background: var(--_pick-wash);
  font-size: 14px;
  line-height: 1.5;
  overflow-wrap: anywhere;
}
.sentence {
  contain: layout;
  /* Two lines, always: nothing below may jump while the pointer moves. */
  min-height: 64px;
  margin-top: 12px;
}
/* Spaces stay, and a long token goes on in the next line. */
.sentence .token,
.explained .token {
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.sentence.hint {
  border-inline-start-color: var(--_line);
  background: none;
  color: var(--_soft);
}
`;
