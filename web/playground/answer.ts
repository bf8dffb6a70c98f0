/** What is asked of the module, and what it answers. */

import type { HeadSource, LayerRun, OpenSource, RunOptions } from "./sources/source.js";
import type { Token, Tokenization, Unit } from "./tokens.js";

export interface Question {
  readonly source: HeadSource;
  readonly text: string;
  readonly unit: Unit;
  readonly options: RunOptions;
}

export interface Answer extends Question, Tokenization {
  readonly tokens: readonly Token[];
  readonly open: OpenSource;
  readonly run: LayerRun;
}
