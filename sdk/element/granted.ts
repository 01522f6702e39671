/**
 * What an element can use beyond frames if its manifest declares it, and a person has
 * installed it with that.
 */

/** A request to a server. */
export interface ElementRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** The complete response of a server. */
export interface ElementResponse {
  status: number
  /** By name in lower case. */
  headers: Record<string, string>
  body: Uint8Array
}

/**
 * Sends a request through the engine. Rejects with the reason if the manifest does not declare the
 * host and port in `network`, if the server does not answer within 10 s, or if the response is
 * larger than 4 MiB. Redirects are not followed.
 */
export type ElementFetch = (url: string, request?: ElementRequest) => Promise<ElementResponse>

/**
 * Files of this element on this channel. They survive restarts and other versions of the plugin.
 * Names consist of letters, digits, dots, hyphens and underscores. All functions reject with the
 * reason if the manifest does not declare `storage`.
 */
export interface ElementStorage {
  /** Returns the content of a file; undefined if it does not exist. */
  read(name: string): Promise<Uint8Array | undefined>
  /** Replaces a file. Rejects if all files together would exceed the declared size. */
  write(name: string, content: string | Uint8Array): Promise<void>
  delete(name: string): Promise<void>
  /** Returns the names of all files. */
  list(): Promise<string[]>
}
