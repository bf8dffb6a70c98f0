/** Numbers as sentences of the page have them. */

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

export function signed(nats: number): string {
  return `${nats < 0 ? "−" : "+"}${Math.abs(nats).toFixed(3)}`;
}
