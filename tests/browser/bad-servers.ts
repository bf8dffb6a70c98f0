// Servers of model files that are slow or fail, for pages of another origin.
import { answer, type Behaviour } from "../models/range-server.ts";

/** As a server must answer for pages of others. */
export const SHARED = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": "Range, If-Range",
  "Access-Control-Expose-Headers": "Content-Range, Content-Length, ETag, Accept-Ranges",
};

/** Lets other pages ask, then does as told. */
export const polite =
  (then: Behaviour): Behaviour =>
  (request, response, server) => {
    if (request.method !== "OPTIONS") return then(request, response, server);
    response.writeHead(204, SHARED).end();
    return true;
  };

/** Answers rightly, 0.4 s late. Its server needs SHARED as headers. */
export const slow = polite((request, response, server) => {
  setTimeout(() => answer(request, response, server), 400);
  return true;
});

/** What a server does instead of answering, and what the page has to say of it. */
export const FAILURES: readonly { readonly name: string; readonly behaviour: Behaviour; readonly says: RegExp }[] = [
  {
    name: "answers 500",
    behaviour: polite((_, response) => {
      response.writeHead(500, SHARED).end("no");
      return true;
    }),
    says: /HTTP 500/,
  },
  {
    name: "breaks off",
    behaviour: polite((_, response) => {
      response.destroy();
      return true;
    }),
    says: /model\.gguf/,
  },
  {
    name: "does not let pages of others read",
    behaviour: (_, response) => {
      response.writeHead(200, { "Content-Length": 4 }).end("GGUF");
      return true;
    },
    says: /model\.gguf/,
  },
  {
    name: "sends a web page",
    behaviour: polite((_, response) => {
      response.writeHead(200, { ...SHARED, "Content-Type": "text/html" }).end("<!doctype html><title>Sign in</title>");
      return true;
    }),
    says: /HTML/,
  },
];
