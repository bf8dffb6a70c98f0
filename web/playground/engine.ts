/**
 * The module and the sources opened on it. Answers carry the question they belong to: a newer question stops the run of
 * an older one, and a result that comes all the same is dropped.
 */

import type { WorkerHeadscope } from "headscope/worker";
import type { Answer, Question } from "./answer.js";
import { CoreWorker } from "./core.js";
import type { HeadSource, OpenSource } from "./sources/source.js";
import type { Tokenization } from "./tokens.js";

export class Engine {
  private readonly core = new CoreWorker();
  private readonly opened = new WeakMap<HeadSource, Promise<OpenSource>>();
  private newest = new AbortController();

  ready(): Promise<WorkerHeadscope> {
    return this.core.ready;
  }

  /** See CoreWorker. */
  expectModel(): void {
    this.core.expectModel();
  }

  /** Null when a newer question has been asked in the meantime, or there is nothing to compute. */
  ask(asked: Question, tokenized: (tokenization: Tokenization) => void): Promise<Answer | null> {
    this.newest.abort();
    this.newest = new AbortController();
    return this.answer(asked, this.newest.signal, tokenized);
  }

  /** A question beside the newest, for comparing; its own signal stops it. */
  askBeside(asked: Question, signal: AbortSignal): Promise<Answer | null> {
    return this.answer(asked, signal, () => {});
  }

  /** What was asked last is of no interest any more. */
  forget(): void {
    this.newest.abort();
  }

  private async answer(
    asked: Question,
    signal: AbortSignal,
    tokenized: (tokenization: Tokenization) => void,
  ): Promise<Answer | null> {
    const { source, text, unit } = asked;
    try {
      const made = source.tokenize(text, unit);
      // Tokens that need no model are there at once, before the module is.
      const tokenization = made instanceof Promise ? await made : made;
      if (signal.aborted) return null;
      tokenized(tokenization);
      const { tokens } = tokenization;
      if (tokens.length === 0) return null;
      const open = await this.open(source);
      if (signal.aborted) return null;
      const options = { ...asked.options, signal };
      const run = await open.run(tokens, options);
      return signal.aborted ? null : { ...asked, ...tokenization, options, open, run };
    } catch (error) {
      // The failure of a question that nobody asks any more is nobody's business.
      if (signal.aborted) return null;
      throw error;
    }
  }

  private open(source: HeadSource): Promise<OpenSource> {
    let open = this.opened.get(source);
    if (!open) {
      open = this.core.ready.then((core) => source.open(core));
      this.opened.set(source, open);
      // A source that failed to open is tried again at the next question.
      open.catch(() => this.opened.delete(source));
    }
    return open;
  }
}
