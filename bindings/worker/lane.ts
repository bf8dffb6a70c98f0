/** A call that may have to wait until those before it have been answered. */
export interface Waiting {
  /** Sends it. */
  send(): void;
}

/**
 * Calls one after the other: the next is sent when the one before has been answered. What waits here can still be taken
 * back, so that of five quick calls of which four are aborted the worker only ever sees two.
 */
export class Lane {
  readonly #waiting: Waiting[] = [];
  #busy = false;

  add(call: Waiting): void {
    this.#waiting.push(call);
    if (!this.#busy) this.#next();
  }

  /** Takes a call back that has not been sent. */
  remove(call: Waiting): void {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** The call that was sent has been answered. */
  done(): void {
    this.#busy = false;
    this.#next();
  }

  #next(): void {
    const call = this.#waiting.shift();
    if (call === undefined) return;
    this.#busy = true;
    call.send();
  }
}
