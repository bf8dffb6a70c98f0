/** `aria-busy`: what readers of the page are told while a part of it is still on its way. */

/** Works under way for each place. */
const works = new WeakMap<Element, number>();

/** Marks a place until a work ends, well or not; with several works, until the last one. */
export async function busy<T>(place: Element, work: Promise<T>): Promise<T> {
  works.set(place, (works.get(place) ?? 0) + 1);
  place.setAttribute("aria-busy", "true");
  try {
    return await work;
  } finally {
    const left = (works.get(place) ?? 1) - 1;
    works.set(place, left);
    if (left === 0) place.removeAttribute("aria-busy");
  }
}
