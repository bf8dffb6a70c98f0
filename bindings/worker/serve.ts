import type { Headscope, KVCache } from "../types.js";
import { buffersOf } from "./copy.js";
import { type Answer, type Operation, type Operations, stateOf, type Work } from "./operations.js";
import type { CallMessage, FromWorker, Kept, States, ToWorker } from "./protocol.js";
import { packError } from "./wire-error.js";

type Run = Operations[string];

/** Where an operation is. A promise only where its code has to be fetched first. */
export type Find = (operation: Operation) => Run | Promise<Run>;

/** Answers the calls that come over a port, with an instance of its own. */
export function serve(port: MessagePort, find: Find): void {
  const server = new Server(port, find);
  port.onmessage = ({ data }: { data: ToWorker }) => server.receive(data);
}

class Server {
  readonly #port: MessagePort;
  readonly #find: Find;
  readonly #objects = new Map<number, object>();
  readonly #running = new Map<number, AbortController>();
  #hs: Headscope | undefined;
  #last = 0;

  constructor(port: MessagePort, find: Find) {
    this.#port = port;
    this.#find = find;
  }

  receive(message: ToWorker): void {
    if ("abort" in message) this.#running.get(message.abort)?.abort();
    else if ("drop" in message) this.#collect(message.drop);
    else void this.#answer(message);
  }

  /** The page's handle is gone: nobody will dispose of the object any more. */
  #collect(id: number): void {
    const object = this.#objects.get(id);
    this.#objects.delete(id);
    if (object === undefined) return;
    if ("dispose" in object) (object as { dispose(): void }).dispose();
    else if ("stop" in object) (object as { stop: AbortController }).stop.abort();
  }

  async #answer(message: CallMessage): Promise<void> {
    const { id, operation, target, args, cache, progress } = message;
    const controller = new AbortController();
    this.#running.set(id, controller);
    const work: Work = {
      id: target,
      hs: this.#hs as Headscope,
      target: this.#objects.get(target),
      args,
      cache: cache === undefined ? undefined : (this.#objects.get(cache) as KVCache),
      signal: controller.signal,
      onProgress: progress ? (value) => this.#post({ id, progress: value }) : undefined,
      keep: (object, snapshot) => this.#keep(object, snapshot),
      started: (hs) => {
        this.#hs = hs;
      },
      drop: () => this.#objects.delete(target),
    };
    // Of a run its model: what that has read changes with every step.
    const { owner = target } = (work.target ?? {}) as { owner?: number };
    const told = [owner, ...(cache === undefined ? [] : [cache])];
    try {
      const found = this.#find(operation);
      // What is there runs in this turn: no later message may overtake it.
      const run = found instanceof Promise ? await found : found;
      const { value, fresh = false }: Answer = await run(work);
      this.#post({ id, states: this.#states(told), value }, fresh ? [...buffersOf(value)] : []);
    } catch (error) {
      this.#post({ id, states: this.#states(told), error: packError(error) });
    } finally {
      this.#running.delete(id);
    }
  }

  #keep<T>(object: object, snapshot: T): Kept<T> {
    const id = ++this.#last;
    this.#objects.set(id, object);
    return { kept: id, snapshot };
  }

  #states(ids: readonly number[]): States {
    const states: [number, Readonly<Record<string, unknown>>][] = [];
    for (const id of ids) {
      const state = stateOf(this.#objects.get(id));
      if (state !== undefined) states.push([id, state]);
    }
    return states;
  }

  #post(message: FromWorker, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer);
  }
}
