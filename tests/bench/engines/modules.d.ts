// What the bench uses of the driver of Firefox, so that the type check does not need it installed.

declare module "puppeteer-core" {
  interface Page {
    exposeFunction(name: string, call: (text: string) => void): Promise<void>;
    goto(url: string): Promise<unknown>;
    waitForFunction(expression: string): Promise<unknown>;
    evaluate<A, R>(call: (argument: A) => R | Promise<R>, argument: A): Promise<R>;
  }
  interface Browser {
    newPage(): Promise<Page>;
    version(): Promise<string>;
    close(): Promise<void>;
  }
  const puppeteer: {
    launch(options: {
      browser: "firefox";
      executablePath: string;
      headless: boolean;
      protocolTimeout: number;
      extraPrefsFirefox: Record<string, boolean>;
    }): Promise<Browser>;
  };
  // biome-ignore lint/style/noDefaultExport: it is the package that has one
  export default puppeteer;
}
