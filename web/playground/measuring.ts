/** A measurement on the page: offered with what it takes, running, stopped, known. Nothing long starts by itself. */

import { el, setText } from "../elements/dom.js";
import { formatBytes, formatInteger } from "../elements/format.js";
import { ended, say } from "../i18n/index.js";
import type { Estimate, Measurement, MeasureProgress } from "./sources/source.js";

export type Measured<T> =
  | { readonly is: "offered"; readonly stopped: boolean }
  | { readonly is: "running"; readonly progress: MeasureProgress | null }
  | { readonly is: "known"; readonly value: T }
  | { readonly is: "failed"; readonly reason: string };

/** What takes longer than this, in milliseconds, shows its progress, and how to stop it. */
const LONG = 2000;

export class Measuring<T> {
  now: Measured<T> = { is: "offered", stopped: false };
  private running: AbortController | null = null;

  /** @param changed called after each change of `now` */
  constructor(
    readonly measurement: Measurement<T>,
    private readonly changed: () => void,
  ) {}

  /** Undefined until it is known. */
  get value(): T | undefined {
    return this.now.is === "known" ? this.now.value : undefined;
  }

  /** Whether there is something to be said, or asked: what is quick is waited for. */
  get worthSaying(): boolean {
    const { now, measurement } = this;
    if (now.is === "known") return false;
    if (now.is === "failed" || (now.is === "offered" && now.stopped)) return true;
    return !measurement.quick() || (now.is === "running" && (now.progress?.left ?? 0) > LONG);
  }

  start(): void {
    if (this.now.is === "running" || this.now.is === "known") return;
    const running = new AbortController();
    this.running = running;
    const { signal } = running;
    this.become({ is: "running", progress: null });
    const onProgress = (progress: MeasureProgress) => {
      if (!signal.aborted) this.become({ is: "running", progress });
    };
    this.measurement.run({ signal, onProgress }).then(
      (value) => {
        if (!signal.aborted) this.become({ is: "known", value });
      },
      (error: unknown) => {
        if (signal.aborted) return;
        this.become({ is: "failed", reason: error instanceof Error ? error.message : String(error) });
      },
    );
  }

  /** By the visitor. What has been measured so far is kept by the measurement. */
  stop(): void {
    this.end(true);
  }

  /** For something that is wanted sooner. */
  pause(): void {
    this.end(false);
  }

  private end(stopped: boolean): void {
    if (this.now.is !== "running") return;
    this.running?.abort();
    this.become({ is: "offered", stopped });
  }

  private become(now: Measured<T>): void {
    this.now = now;
    this.changed();
  }
}

/** A measurement in words, with its buttons. Nothing is shown where it is known, or so quick that it is never offered. */
export class MeasuringLine {
  readonly node: HTMLElement;
  private readonly words = el("span", { class: "soft" });
  /** Told to screen readers when it begins, ends or fails; not every step. */
  private readonly spoken = el("span", { class: "hidden-label", role: "status" });
  private readonly startButton = el("button", { type: "button" });
  private readonly stopButton = el("button", { type: "button" });
  private shown: Measuring<unknown> | null = null;

  /** @param start the visitor wants it */
  constructor(start: () => void) {
    this.startButton.addEventListener("click", start);
    this.stopButton.addEventListener("click", () => this.shown?.stop());
    this.node = el("p", { class: "measuring" }, this.words, this.startButton, this.stopButton, this.spoken);
    this.render(null);
  }

  render(measuring: Measuring<unknown> | null): void {
    this.shown = measuring;
    const { now = { is: "known" } } = measuring ?? {};
    this.node.hidden = now.is === "known";
    if (!measuring || now.is === "known") {
      setText(this.spoken, "");
      return;
    }
    const words = wordsOf(measuring);
    setText(this.words, words);
    setText(this.spoken, now.is === "running" ? say("measure.begun") : now.is === "failed" ? words : "");
    const stopped = now.is === "failed" || (now.is === "offered" && now.stopped);
    setText(this.startButton, say(stopped ? "measure.goOn" : "measure.start"));
    setText(this.stopButton, say("measure.stop"));
    // A button that goes hands the focus to the one that comes in its place.
    const focused = this.node.contains(document.activeElement);
    const running = now.is === "running";
    this.startButton.hidden = running;
    this.stopButton.hidden = !running;
    if (focused) (running ? this.stopButton : this.startButton).focus();
  }
}

function wordsOf({ now, measurement }: Measuring<unknown>): string {
  if (now.is === "failed") return say("measure.failed", { reason: ended(now.reason) });
  if (now.is === "running") {
    const { done, total, left } = now.progress ?? { done: 0, total: measurement.estimate().passes, left: null };
    const counted = { done: formatInteger(done), total: formatInteger(total) };
    return left === null || left === 0
      ? say("measure.running", counted)
      : say("measure.left", { ...counted, time: timeOf(left) });
  }
  const estimate = measurement.estimate();
  const words = [now.is === "offered" && now.stopped ? say("measure.stopped") : "", offerOf(estimate)];
  if (estimate.reading) {
    const { bytes, each, network } = estimate.reading;
    const key = each ? "measure.readsEach" : network ? "measure.downloads" : "measure.reads";
    words.push(say(key, { bytes: formatBytes(bytes) }));
  }
  return words.filter(Boolean).join(" ");
}

function offerOf({ passes, milliseconds }: Estimate): string {
  const runs = formatInteger(passes);
  return milliseconds === null
    ? say("measure.offer", { runs })
    : say("measure.offerTime", { runs, time: timeOf(milliseconds) });
}

/** "2 s", "45 s", "5 min", "1.5 h": no more digits than an estimate has. */
export function timeOf(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 20) return say("time.seconds", { count: Math.max(1, Math.round(seconds)) });
  if (seconds < 57.5) return say("time.seconds", { count: 5 * Math.round(seconds / 5) });
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes < 60) return say("time.minutes", { count: minutes });
  return say("time.hours", { count: (Math.round(minutes / 30) / 2).toString() });
}
