/** Roving focus: one item of a set is in the tab order, the arrows move it. */

export function moveIndex(key: string, index: number, count: number, columns: number): number | null {
  const inside = (next: number) => (next >= 0 && next < count ? next : index);
  switch (key) {
    case "ArrowRight":
      return inside(index + 1);
    case "ArrowLeft":
      return inside(index - 1);
    case "ArrowDown":
      return columns > 1 ? inside(index + columns) : inside(index + 1);
    case "ArrowUp":
      return columns > 1 ? inside(index - columns) : inside(index - 1);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}

export function rove(items: readonly HTMLElement[], current: number): void {
  for (const [i, item] of items.entries()) {
    const tabIndex = i === current ? 0 : -1;
    if (item.tabIndex !== tabIndex) item.tabIndex = tabIndex;
  }
}
