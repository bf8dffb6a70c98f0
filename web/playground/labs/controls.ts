/** Controls of the laboratories: labelled, reachable by keyboard, and with what is wrong written beside them. */

import { el, setAttributes, setText } from "../../elements/dom.js";

let ids = 0;

export interface NumberControl {
  readonly node: HTMLElement;
  /** Other limits; the value is moved inside. */
  limit(min: number, max: number): void;
}

export interface NumberOptions {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly value: number;
  /** Where the slider stops, from left to right; default every whole number from `min` to `max`. */
  readonly steps?: readonly number[];
  /** What is wrong with a number, as a sentence; null where nothing is. */
  check(value: number, typed: string): string | null;
  onChange(value: number): void;
}

/** A slider and a field for the same number. A number that cannot be taken is explained, and the last good one stays. */
export function numberControl({ label, min, max, value, steps, check, onChange }: NumberOptions): NumberControl {
  const id = `lab-number-${ids++}`;
  const [first, last] = steps ? [0, steps.length - 1] : [min, max];
  const slider = el("input", { type: "range", min: first, max: last, step: 1, "aria-label": label });
  const field = el("input", { type: "number", id, min, max, step: 1, "aria-describedby": `${id}-problem` });
  const problem = el("span", { class: "problem", id: `${id}-problem`, role: "status" });
  const slide = (next: number) => {
    slider.value = String(steps ? steps.indexOf(next) : next);
    if (steps) setAttributes(slider, { "aria-valuetext": next });
  };
  // The last good number: what is typed may be none.
  let now = value;
  const set = (next: number) => {
    now = next;
    slide(next);
    field.value = String(next);
  };
  const complain = (wrong: string | null) => {
    setText(problem, wrong ?? "");
    setAttributes(field, { "aria-invalid": wrong === null ? null : "true" });
  };
  const take = (typed: string) => {
    const next = typed.trim() === "" ? Number.NaN : Number(typed);
    const wrong = check(next, typed);
    complain(wrong);
    if (wrong !== null) return;
    now = next;
    slide(next);
    onChange(next);
  };
  slider.addEventListener("input", () => {
    const at = Number(slider.value);
    field.value = String(steps ? steps[at] : at);
    take(field.value);
  });
  field.addEventListener("input", () => take(field.value));
  set(value);
  return {
    node: el("div", { class: "lab-number" }, el("label", { for: id }, label), slider, field, problem),
    limit(least, most) {
      for (const input of [slider, field]) setAttributes(input, { min: least, max: most });
      if (now >= least && now <= most) return;
      set(Math.max(least, Math.min(most, now)));
      complain(null);
    },
  };
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

/** A row of radio buttons that look like one control. */
export function segments<T extends string>(
  label: string,
  choices: readonly Choice<T>[],
  value: T,
  onChange: (value: T) => void,
): HTMLElement {
  const name = `lab-choice-${ids++}`;
  const group = el("fieldset", { class: "segments" }, el("legend", { class: "hidden-label" }, label));
  for (const choice of choices) {
    const radio = el("input", { type: "radio", name, value: choice.value, checked: choice.value === value });
    radio.addEventListener("change", () => onChange(choice.value));
    group.append(el("label", {}, radio, el("span", {}, choice.label)));
  }
  return el("div", { class: "lab-choice" }, el("span", { "aria-hidden": "true" }, label), group);
}
