import { ByteList } from "./byte-list.js";

interface Hooks {
  readonly arrived: (bytes: number) => void;
  readonly tooLarge: () => Error;
  readonly limit: number;
}

/** The body of an answer that is the whole file: read as far as somebody needs it, and kept. */
export class WholeBody {
  complete = false;
  readonly #bytes = new ByteList();
  readonly #hooks: Hooks;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Bytes of a repeated answer that are here already. */
  #skip = 0;
  /** The read that is under way: a stream has one at a time, whoever waits for it. */
  #pending: Promise<void> | undefined;

  constructor(response: Response, hooks: Hooks) {
    this.#hooks = hooks;
    this.continueWith(response, 0);
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Whether an answer is being read. */
  get connected(): boolean {
    return this.#reader !== undefined || this.complete;
  }

  /** Goes on with another answer, whose first `skip` bytes are known. */
  continueWith(response: Response, skip: number): void {
    this.#skip = skip;
    this.#reader = response.body?.getReader();
    if (this.#reader === undefined) this.complete = true;
  }

  async read(begin: number, end: number): Promise<Uint8Array> {
    while (this.#bytes.length < end && !this.complete) {
      this.#pending ??= this.#pull().finally(() => {
        this.#pending = undefined;
      });
      await this.#pending;
    }
    return this.#bytes.view(begin, end);
  }

  async #pull(): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined) throw new Error("the connection broke off");
    let result: ReadableStreamReadResult<Uint8Array>;
    try {
      result = await reader.read();
    } catch (error) {
      this.#reader = undefined;
      throw error;
    }
    if (result.done) {
      this.complete = this.#skip === 0;
      this.#reader = undefined;
      return;
    }
    const fresh = result.value.subarray(this.#skip);
    this.#skip -= result.value.length - fresh.length;
    if (this.#bytes.length + fresh.length > this.#hooks.limit) {
      this.close();
      throw this.#hooks.tooLarge();
    }
    this.#bytes.push(fresh);
    this.#hooks.arrived(result.value.length); // last: it may be the caller's code, and that may throw
  }

  close(): void {
    this.#reader?.cancel().catch(() => undefined);
    this.#reader = undefined;
  }
}
