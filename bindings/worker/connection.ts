import { HeadscopeError, mismatch, wrongType } from "../errors.js";
import { Copier } from "./copy.js";
import { onFailure, type WorkerLike } from "./host.js";
import { Lane, type Waiting } from "./lane.js";
import type { Operation } from "./operations.js";
import type { CallMessage, FromWorker, Kept, ToWorker } from "./protocol.js";
import { unpackError } from "./wire-error.js";

/** What a call gives besides its operation. */
export interface Request {
  /** The object; 0, the default, is the module. */
  readonly target?: number | undefined;
  /** Names of the arguments, for messages, with the arguments. */
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  readonly cache?: number | undefined;
  /** Calls of one lane go one after the other; without a lane a call is sent at once. */
  readonly lane?: Lane | undefined;
  readonly signal?: unknown;
  readonly onProgress?: unknown;
}

interface Pending {
  readonly settle: (answer: Extract<FromWorker, { states: unknown }> | Error) => void;
  readonly onProgress: ((progress: unknown) => void) | undefined;
}

/** The page's end: numbers calls, puts them into their lanes, and gives answers back. */
export class Connection {
  /** For what computes at once: there a call that runs cannot be stopped, but those behind it can be taken back. */
  readonly lane = new Lane();
  readonly #worker: WorkerLike;
  readonly #port: MessagePort;
  readonly #pending = new Map<number, Pending>();
  /** By the call that made an object: an open file goes on telling what it reads. */
  readonly #told = new Map<number, { readonly kept: number; readonly onProgress: (progress: unknown) => void }>();
  readonly #states = new Map<number, WeakRef<{ update(state: Readonly<Record<string, unknown>>): void }>>();
  readonly #unlisten: () => void;
  // A net only: nobody can say when, or whether, a collector runs.
  readonly #registry =
    typeof FinalizationRegistry === "function" ? new FinalizationRegistry<number>((id) => this.drop(id)) : null;
  #last = 0;
  #started = false;
  #closed: HeadscopeError | undefined;

  constructor(worker: WorkerLike) {
    this.#worker = worker;
    this.#unlisten = onFailure(worker, (error, ended) => {
      if (ended || !this.#started) this.#close(error);
    });
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: { data: FromWorker }) => this.#receive(data);
    worker.postMessage({ headscope: "connect", port: port2 }, [port2]);
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  started(): void {
    this.#started = true;
  }

  /** Calls the worker. Arguments are copied before this returns. */
  async call<T>(name: string, operation: Operation, request: Request = {}): Promise<T> {
    const { target = 0, args = {}, cache, lane } = request;
    const signal = checkSignal(request.signal);
    const onProgress = checkProgress(request.onProgress);
    if (this.#closed !== undefined) throw this.#closed;
    if (signal?.aborted) throw aborted(name, signal);
    const copier = new Copier();
    const copies = Object.entries(args).map(([path, value]) => copier.copy(path, value));
    const id = ++this.#last;
    const message: CallMessage = { id, operation, target, args: copies, cache, progress: onProgress !== undefined };

    return new Promise<T>((resolve, reject) => {
      let gone = false; // aborted: nobody waits for the answer any more
      let sent = false;
      const stop = () => {
        gone = true;
        if (sent) this.#send({ abort: id });
        else lane?.remove(waiting);
        if (!sent) this.#pending.delete(id);
        reject(aborted(name, signal as AbortSignal));
      };
      const settle: Pending["settle"] = (answer) => {
        signal?.removeEventListener("abort", stop);
        if (answer instanceof Error) reject(answer);
        else if ("error" in answer) reject(unpackError(answer.error));
        else if (gone) this.#dropUnwanted(answer.value);
        else resolve(answer.value as T);
        if (sent) lane?.done();
      };
      const waiting: Waiting = {
        send: () => {
          sent = true;
          try {
            this.#send(message, copier.transfer);
          } catch (cause) {
            // A value that cannot be cloned, such as a function inside a Map.
            this.#pending.delete(id);
            const why = cause instanceof Error ? cause.message : String(cause);
            settle(new TypeError(`${name}: expected values that can be sent to a worker, got one that cannot: ${why}`));
          }
        },
      };
      this.#pending.set(id, {
        settle,
        onProgress: onProgress && ((progress) => (gone ? undefined : onProgress(progress))),
      });
      signal?.addEventListener("abort", stop, { once: true });
      if (lane === undefined) waiting.send();
      else lane.add(waiting);
    });
  }

  /** Remembers the handle of an object in the worker: tells it of changes, and lets go of the object after it. */
  hold(id: number, handle: { update(state: Readonly<Record<string, unknown>>): void }): void {
    this.#states.set(id, new WeakRef(handle));
    this.#registry?.register(handle, id);
  }

  /** Nobody will ask for this object again. */
  drop(id: number): void {
    this.#states.delete(id);
    for (const [call, { kept }] of this.#told) if (kept === id) this.#told.delete(call);
    if (this.#closed === undefined) this.#send({ drop: id });
  }

  /** Ends the worker, which gives its memory back. What has not been answered is rejected. */
  async end(): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#close(mismatch("disposed", "worker", "a running worker", "one that was ended by dispose()"));
    await this.#worker.terminate();
  }

  #close(error: HeadscopeError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    this.#unlisten();
    this.#port.close();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#told.clear();
    for (const { settle } of pending) settle(error);
  }

  #send(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    if (this.#closed === undefined) this.#port.postMessage(message, transfer);
  }

  #receive(message: FromWorker): void {
    const pending = this.#pending.get(message.id);
    if ("progress" in message) {
      (pending ?? this.#told.get(message.id))?.onProgress?.(message.progress);
      return;
    }
    this.#pending.delete(message.id);
    const kept = "value" in message ? keptIn(message.value) : undefined;
    if (kept !== undefined && pending?.onProgress) this.#told.set(message.id, { kept, onProgress: pending.onProgress });
    for (const [id, state] of message.states) this.#states.get(id)?.deref()?.update(state);
    pending?.settle(message);
  }

  /** An object that was made for a call that was aborted meanwhile. */
  #dropUnwanted(value: unknown): void {
    const id = keptIn(value);
    if (id !== undefined) this.drop(id);
  }
}

/** The number of an object that an answer stands for. */
function keptIn(value: unknown): number | undefined {
  return typeof value === "object" && value !== null ? (value as Partial<Kept>).kept : undefined;
}

export function aborted(name: string, signal: AbortSignal): HeadscopeError {
  return new HeadscopeError("aborted", `${name}: stopped by its signal`, { argument: "signal", cause: signal.reason });
}

export function checkSignal(signal: unknown): AbortSignal | undefined {
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== "function") {
    throw wrongType("signal", "an AbortSignal", signal);
  }
  return signal as AbortSignal | undefined;
}

function checkProgress(onProgress: unknown): ((progress: unknown) => void) | undefined {
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw wrongType("options.onProgress", "a function", onProgress);
  }
  return onProgress as ((progress: unknown) => void) | undefined;
}
