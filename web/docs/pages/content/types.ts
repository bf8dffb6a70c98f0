/** What a documentation page says: every sentence in both languages. `code` stands between backquotes. */
export type Text = readonly [en: string, zh: string];

export interface Property {
  readonly name: string;
  readonly type: string;
  readonly initial: string;
  readonly what: Text;
  /** Of the attribute, where there is one; "" has the property's name. */
  readonly attribute?: string | undefined;
}

/** A row of the table of properties. */
export function property(name: string, type: string, initial: string, what: Text, attribute?: string): Property {
  return { name, type, initial, what, attribute };
}

export interface Row {
  readonly name: string;
  readonly what: Text;
}

/** A live figure. Its two files are what the page shows and what it runs. */
export interface Figure {
  /** `figures/<page>/<name>.html` and `.js`. */
  readonly name: string;
  readonly title: Text;
  readonly what: Text;
}

/** Code that is only shown: it needs another program. */
export interface Sample {
  readonly title: Text;
  readonly what: Text;
  readonly language: string;
  readonly code: string;
}

export interface ElementPage {
  readonly tag: string;
  readonly definition: Text;
  readonly figures: readonly Figure[];
  readonly samples?: readonly Sample[];
  readonly properties: readonly Property[];
  /** Whether it has the properties of every element that shows weights. */
  readonly head: boolean;
  readonly events: readonly Row[];
  readonly keys?: readonly Row[];
  readonly parts: readonly Row[];
  readonly custom?: readonly Row[];
  /** What else is to be known: sizes, speed. */
  readonly notes?: readonly Text[];
}
