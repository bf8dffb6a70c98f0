import { HeadscopeError } from "../errors.js";

function aborted(what: string, signal: AbortSignal): HeadscopeError {
  return new HeadscopeError("aborted", `${what}: stopped by its signal`, { argument: "signal", cause: signal.reason });
}

export function throwIfAborted(what: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(what, signal);
}

/** The promise, or the signal's abort, whichever comes first. */
export function untilAborted<T>(what: string, signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) {
    promise.catch(() => undefined); // its end is nobody's business any more
    return Promise.reject(aborted(what, signal));
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(aborted(what, signal));
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

export function pause(what: string, signal: AbortSignal | undefined, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return untilAborted(what, signal, waited).finally(() => clearTimeout(timer));
}
