/**
 * The wasm module and the sources opened on it. Answers carry the question they belong to: a result that comes after a
 * newer question was asked is dropped.
 */

import type { Headscope } from "headscope";
import { load } from "headscope";
import type { HeadSource, LayerRun, OpenSource, RunOptions } from "./sources/source.js";
import type { Token } from "./tokens.js";

export interface Question {
  readonly source: HeadSource;
  readonly tokens: readonly Token[];
  readonly options: RunOptions;
}

export interface Answer extends Question {
  readonly open: OpenSource;
  readonly run: LayerRun;
}

export class Engine {
  // The baseline build, not the relaxed one: a link then shows the same digits on every machine.
  private readonly started = load({ variant: "simd" });
  private readonly opened = new Map<HeadSource, OpenSource | Promise<OpenSource>>();
  private core: Headscope | null = null;
  private newest = 0;

  async ready(): Promise<Headscope> {
    this.core = await this.started;
    return this.core;
  }

  /** Null when a newer question has been asked in the meantime. Once everything is open the answer is ready at once. */
  ask(question: Question): Answer | null | Promise<Answer | null> {
    const ticket = ++this.newest;
    const open = this.core ? this.open(this.core, question.source) : null;
    if (open && !(open instanceof Promise)) {
      const run = open.run(question.tokens, question.options);
      if (!(run instanceof Promise)) return { ...question, open, run };
    }
    return this.later(ticket, question);
  }

  private async later(ticket: number, question: Question): Promise<Answer | null> {
    const current = () => ticket === this.newest;
    try {
      const open = await this.open(await this.ready(), question.source);
      if (!current()) return null;
      const run = await open.run(question.tokens, question.options);
      return current() ? { ...question, open, run } : null;
    } catch (error) {
      // The failure of a question that nobody asks any more is nobody's business.
      if (!current()) return null;
      throw error;
    }
  }

  private open(core: Headscope, source: HeadSource): OpenSource | Promise<OpenSource> {
    let open = this.opened.get(source);
    if (!open) {
      open = source.open(core);
      this.opened.set(source, open);
      if (open instanceof Promise) {
        open.then(
          (done) => this.opened.set(source, done),
          // A source that failed to open is tried again at the next question.
          () => this.opened.delete(source),
        );
      }
    }
    return open;
  }
}
