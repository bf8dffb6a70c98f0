// What the page and its worker say to each other. Each `loadWorker` has a channel of its own, so that a worker script of
// the app's may say other things beside it, and several instances may live in one worker.
import type { Variant } from "../engine.js";
import type { ModuleSource } from "../instantiate.js";
import type { PackedBytes } from "../unpack.js";
import type { Operation } from "./operations.js";
import type { WireError } from "./wire-error.js";

/** The first message to the worker itself: everything else goes over the port. */
export interface Connect {
  readonly headscope: "connect";
  readonly port: MessagePort;
}

/** What `start` takes. */
export interface StartOptions {
  readonly version: string;
  readonly variant: "auto" | Variant;
  readonly module: ModuleSource | undefined;
  /** The relaxed build, which the worker's script does not hold; missing where it could not be fetched or is not wanted. */
  readonly relaxed: PackedBytes | undefined;
}

export interface CallMessage {
  readonly id: number;
  readonly operation: Operation;
  /** The object whose method it is; 0 is the module. */
  readonly target: number;
  readonly args: readonly unknown[];
  /** Stands for `options.cache`. */
  readonly cache: number | undefined;
  /** Whether somebody wants to hear of progress. */
  readonly progress: boolean;
}

export type ToWorker = CallMessage | { readonly abort: number } | { readonly drop: number };

/** What has changed about objects that the page has handles of. */
export type States = readonly (readonly [id: number, state: Readonly<Record<string, unknown>>])[];

export type FromWorker =
  | { readonly id: number; readonly progress: unknown }
  | { readonly id: number; readonly states: States; readonly value: unknown }
  | { readonly id: number; readonly states: States; readonly error: WireError };

/** An object that stays in the worker: its number and what of it does not change. */
export interface Kept<T = Readonly<Record<string, unknown>>> {
  readonly kept: number;
  readonly snapshot: T;
}
