/** The visitor's own model: files chosen or dropped, or an address. Nothing of it goes anywhere. */

import type { FileSource } from "headscope/models";
import type { WorkerHeadscope } from "headscope/worker";
import { say } from "../../i18n/index.js";
import { ModelSource } from "./model-source.js";

export type Chosen = { readonly files: readonly File[] } | { readonly address: string };

export interface OpenProgress {
  readonly signal: AbortSignal;
  /** @param total of the whole file, of which most may not be needed; undefined where the server does not say it */
  onBytes(loaded: number, total: number | undefined): void;
}

/** What came with the model file: safetensors know neither their heads nor their tokens. */
interface Found {
  readonly source: FileSource;
  readonly name: string;
  readonly config: unknown;
  readonly tokenizer: unknown;
}

export async function openChosen(core: WorkerHeadscope, chosen: Chosen, { signal, onBytes }: OpenProgress) {
  const { source, name, config, tokenizer } =
    "files" in chosen ? await amongFiles(chosen.files) : await besideAddress(chosen.address, signal);
  const onProgress = ({ loaded, total }: { loaded: number; total?: number }) => onBytes(loaded, total);
  const model = await core.openModel(source, { config, tokenizer, signal, onProgress });
  try {
    // A file without a tokenizer is refused now, not at the first keystroke.
    await model.tokenize("");
    return new ModelSource(core, model, source, {
      id: "file",
      title: () => name,
      about: () =>
        say("source.file.about", {
          name,
          architecture: model.architecture,
          layers: model.config.layers,
          heads: model.config.numHeads,
          width: model.config.dModel,
        }),
    });
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

/** `huggingface.co/…` as people type it, and a file's page there for the file. Throws for what is no address. */
export function addressOf(given: string, base: string): URL {
  const typed = /^[\w-]+(\.[\w-]+)+(:\d+)?\//.test(given) ? `https://${given}` : given;
  let address: URL | null = null;
  try {
    address = new URL(typed, base);
  } catch {
    // Said below.
  }
  if (!address || !/^(https?|blob|data):$/.test(address.protocol)) {
    throw new Error(say("open.noAddress", { address: given }));
  }
  if (address.hostname === "huggingface.co")
    address.pathname = address.pathname.replace(/^(\/[^/]+\/[^/]+)\/blob\//, "$1/resolve/");
  return address;
}

async function amongFiles(files: readonly File[]): Promise<Found> {
  const named = (pattern: RegExp) => files.find(({ name }) => pattern.test(name));
  const models = files.filter(({ name }) => !/\.json$/i.test(name));
  const [file] = models;
  if (!file || models.length > 1) {
    throw new Error(say("open.oneModel", { files: files.map(({ name }) => name).join(", ") }));
  }
  const config = await named(/^config\.json$/i)?.text();
  const tokenizer = await named(/tokenizer\.json$/i)?.text();
  return { source: file, name: file.name, config, tokenizer };
}

async function besideAddress(given: string, signal: AbortSignal): Promise<Found> {
  const address = addressOf(given, location.href);
  const name = decodeURIComponent(address.pathname.split("/").pop() || address.host);
  if (!/\.safetensors$/i.test(address.pathname)) {
    return { source: address, name, config: undefined, tokenizer: undefined };
  }
  const beside = async (sibling: string): Promise<string | undefined> => {
    try {
      const answer = await fetch(new URL(sibling, address), { signal });
      return answer.ok ? await answer.text() : undefined;
    } catch {
      // What is missing is said when it is needed.
      return undefined;
    }
  };
  const [config, tokenizer] = await Promise.all([beside("config.json"), beside("tokenizer.json")]);
  return { source: address, name, config, tokenizer };
}
