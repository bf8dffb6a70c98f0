import { pause } from "./abort.js";
import { fileError } from "./file-error.js";

/** A failure that the next attempt may not have. */
export class PassingFailure extends Error {
  /** Milliseconds that the server asks for. */
  readonly pause: number | undefined;

  constructor(message: string, cause?: unknown, pause?: number) {
    super(message, { cause });
    this.pause = pause;
  }
}

/** What fetch says is often no more than "fetch failed": its cause tells why. */
export function passing(error: unknown): PassingFailure {
  if (!(error instanceof Error)) return new PassingFailure(String(error), error);
  const { cause } = error;
  const why = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
  return new PassingFailure(`${error.message}${why}`, error);
}

/** Failures in a row, without PROGRESS bytes between them, before a read is given up. */
const MAX_FAILURES = 5;
/** The same for an address that has not answered once: it is more likely wrong than busy. */
const MAX_FIRST_FAILURES = 2;
const PROGRESS = 64 * 1024;
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;

/** The failures of one read. */
export class Retries {
  #failures = 0;
  #reached: number;

  /** `at`: where the read begins. */
  constructor(at: number) {
    this.#reached = at;
  }

  /** Pauses before the next attempt, or throws because there were enough. `at`: how far the read has come. */
  async next(
    failure: PassingFailure,
    { file, at, answered, signal }: { file: string; at: number; answered: boolean; signal: AbortSignal | undefined },
  ): Promise<void> {
    if (at - this.#reached >= PROGRESS) {
      this.#reached = at;
      this.#failures = 0;
    }
    this.#failures += 1;
    if (this.#failures >= (answered ? MAX_FAILURES : MAX_FIRST_FAILURES)) {
      const actual = `"${failure.message}" ${this.#failures} times in a row`;
      // A browser does not tell a server that is not there from one that lets no other page read it.
      const hint = "is the address right, and does its server let other sites read it (CORS)? else download the file";
      throw fileError(file, `byte ${at}`, "an answer", actual, { cause: failure.cause, ...(answered ? {} : { hint }) });
    }
    const wait = failure.pause ?? FIRST_PAUSE * 2 ** (this.#failures - 1);
    await pause(file, signal, Math.min(Math.max(0, wait), LONGEST_PAUSE));
  }
}
