/** Files to the visitor's own disk, through the browser's download. Nothing leaves the device. */

export function save(content: BlobPart, type: string, name: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Browsers read the file after the click, some of them much later.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
