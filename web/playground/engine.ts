/**
 * The wasm module and the sources opened on it. Answers carry the question they belong to: a newer question stops the
 * run of an older one, and a result that comes all the same is dropped.
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
  private readonly opened = new WeakMap<HeadSource, OpenSource | Promise<OpenSource>>();
  private core: Headscope | null = null;
  private newest = new AbortController();

  async ready(): Promise<Headscope> {
    this.core = await this.started;
    return this.core;
  }

  /** Null when a newer question has been asked in the meantime. Once everything is open the answer is ready at once. */
  ask(asked: Question): Answer | null | Promise<Answer | null> {
    this.newest.abort();
    this.newest = new AbortController();
    const { signal } = this.newest;
    const question = { ...asked, options: { ...asked.options, signal } };
    const open = this.core ? this.open(this.core, question.source) : null;
    if (!open || open instanceof Promise) return this.later(question, signal, null);
    const run = open.run(question.tokens, question.options);
    return run instanceof Promise ? this.later(question, signal, run) : { ...question, open, run };
  }

  private async later(
    question: Question,
    signal: AbortSignal,
    running: Promise<LayerRun> | null,
  ): Promise<Answer | null> {
    try {
      const open = await this.open(await this.ready(), question.source);
      if (signal.aborted) return null;
      const run = await (running ?? open.run(question.tokens, question.options));
      return signal.aborted ? null : { ...question, open, run };
    } catch (error) {
      // The failure of a question that nobody asks any more is nobody's business.
      if (signal.aborted) return null;
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
