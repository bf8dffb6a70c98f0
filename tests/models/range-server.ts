// A web server on this machine that keeps or breaks the rules of HTTP Range.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface Request {
  readonly number: number;
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  /** What the Range header asks for, `end` exclusive. */
  readonly range: { readonly begin: number; readonly end: number } | undefined;
}

export interface Server {
  readonly url: string;
  readonly requests: Request[];
  file: Uint8Array;
  headers: Record<string, string>;
}

/** Answers itself, or returns false for the usual answer. */
export type Behaviour = (request: Request, response: ServerResponse, server: Server) => boolean;

export function rangeOf(header: string | undefined): Request["range"] {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? "");
  if (match === null) return undefined;
  return { begin: Number(match[1]), end: match[2] === "" ? Number.POSITIVE_INFINITY : Number(match[2]) + 1 };
}

/** As a good server does it: 206 with the range, 416 past the end, 200 without a range. */
export function answer({ range }: Pick<Request, "range">, response: ServerResponse, { file, headers }: Server): void {
  if (range === undefined) {
    response.writeHead(200, { ...headers, "Content-Length": file.length });
    response.end(file);
  } else if (range.begin >= file.length) {
    response.writeHead(416, { ...headers, "Content-Range": `bytes */${file.length}` });
    response.end();
  } else {
    const end = Math.min(range.end, file.length);
    response.writeHead(206, {
      ...headers,
      "Content-Length": end - range.begin,
      "Content-Range": `bytes ${range.begin}-${end - 1}/${file.length}`,
    });
    response.end(file.subarray(range.begin, end));
  }
}

/** A server for one file, stopped at the end of the test. */
export async function serve(t: TestContext, file: Uint8Array, behaviour: Behaviour = () => false): Promise<Server> {
  const http = createServer((incoming, response) => {
    const { headers, method = "" } = incoming;
    const request: Request = { number: server.requests.length + 1, method, headers, range: rangeOf(headers.range) };
    server.requests.push(request);
    if (!behaviour(request, response, server)) answer(request, response, server);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  const server: Server = { url: `http://127.0.0.1:${port}/model.gguf`, requests: [], file, headers: {} };
  return server;
}
