import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { findRootMessage } from '@eyrie/client/client-errors'
import { fetchResponsive } from '@eyrie/client/responsive-fetch'
import { hashContent } from '@eyrie/plugin-signature/package-files'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { UsageError } from '../command/command.ts'
import { downloadThroughProxy } from '../command/download-proxy.ts'
import { createReadError } from '../command/local-files.ts'
import type { Terminal } from '../command/terminal.ts'
import {
  INDEX_FILE,
  MAX_INDEX_BYTES,
  parseIndex,
  type RegistryIndex,
  toLabel,
  toPackagePath,
} from './registry-index.ts'

/**
 * A registry of plugins: a folder with an index and packages, on this machine or on a web server.
 * Nothing that it contains is trusted before its signature or its hash is verified.
 */
export interface Registry {
  /** Absolute path of the folder, or address without credentials. */
  readonly name: string
  /**
   * Reads a file of the registry. Rejects with an `Error` that names the file, for example if it is
   * missing or has more than `maxBytes`.
   */
  read(path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>>
}

export const REGISTRY_OPTION = { registry: { type: 'string' } } as const

/**
 * Returns the folder or address in the option `--registry`, or else in the environment. Throws
 * `UsageError` if there is none.
 */
export function findRegistryLocation(
  option: string | undefined,
  { environment = {} }: Pick<Terminal, 'environment'>,
): string {
  const location = option || environment.EYRIE_PLUGIN_REGISTRY
  if (location) return location
  throw new UsageError(
    '--registry is missing: the folder or address of a registry, or set EYRIE_PLUGIN_REGISTRY',
  )
}

/**
 * Opens the registry in a folder or at an HTTP address, to which the environment may name a proxy.
 * Throws `UsageError` for any other address.
 */
export function openRegistry(
  location: string,
  { environment = {} }: Pick<Terminal, 'environment'> = {},
): Registry {
  if (!isAddress(location)) return new RegistryFolder(location)
  const url = URL.parse(location)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') {
    return new RegistryServer(url, environment)
  }
  throw new UsageError(
    `${location} is not a registry: write a folder, or an address such as https://example.com/plugins`,
  )
}

/** Whether a location is an address, such as `https://…`, and not a folder. */
export const isAddress = (location: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(location)

/** Reads the index of a registry. Rejects with an `Error` that names the registry. */
export async function readIndex(registry: Registry): Promise<RegistryIndex> {
  const content = await registry.read(INDEX_FILE, MAX_INDEX_BYTES)
  try {
    return parseIndex(Buffer.from(content).toString())
  } catch (cause) {
    throw new Error(`${registry.name} is not a registry of plugins: ${(cause as Error).message}`, {
      cause,
    })
  }
}

/** Reads the package of an entry. Rejects if it is not the one that was published. */
export async function readPackage(
  registry: Registry,
  entry: RegistryEntry,
): Promise<Uint8Array<ArrayBuffer>> {
  const archive = await registry.read(toPackagePath(entry), entry.bytes)
  if (hashContent(archive) === entry.sha256) return archive
  const problem = `was changed after it was published: its SHA-256 is not ${entry.sha256}`
  throw new Error(`${toLabel(entry)} in ${registry.name} ${problem}. Get it from its publisher`)
}

class RegistryFolder implements Registry {
  readonly name: string

  constructor(folder: string) {
    this.name = resolve(folder)
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const file = join(this.name, path)
    const { size } = await stat(file).catch((cause: NodeJS.ErrnoException) => {
      throw createReadError(file, cause)
    })
    if (size > maxBytes) throw createSizeError(file, maxBytes)
    return new Uint8Array(await readFile(file))
  }
}

class RegistryServer implements Registry {
  readonly name: string
  readonly #base: string
  readonly #headers: Record<string, string> = {}
  readonly #environment: NonNullable<Terminal['environment']>

  constructor(
    { origin, pathname, username, password }: URL,
    environment: NonNullable<Terminal['environment']>,
  ) {
    this.#environment = environment
    // Users may write the address of the folder, with or without a slash at its end, or the address
    // of the index in it.
    const folder = pathname.endsWith(INDEX_FILE) ? pathname.slice(0, -INDEX_FILE.length) : pathname
    this.#base = `${origin}${folder.replace(/\/*$/, '/')}`
    this.name = this.#base
    if (username !== '' || password !== '') {
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
      this.#headers = { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
    }
  }

  read(path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const url = this.#base + path
    return downloadThroughProxy(this.#environment, () => this.#download(url, maxBytes))
  }

  async #download(url: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    // An index from a cache could be an old one.
    const request = { headers: { ...this.#headers, 'Cache-Control': 'no-cache' } }
    const response = await fetchResponsive(url, request).catch(cause =>
      throwUnreachable(url, cause),
    )
    if (!response.ok || !response.body) {
      await response.body?.cancel()
      throw new Error(`${url} answered ${response.status} ${response.statusText}`.trimEnd())
    }
    return readBody(response.body, url, maxBytes)
  }
}

/**
 * Reads the body of a response. Rejects if the connection is lost, and as soon as the body has more
 * than `maxBytes`.
 */
async function readBody(
  body: AsyncIterable<Uint8Array>,
  url: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let receivedBytes = 0
  try {
    for await (const chunk of body) {
      receivedBytes += chunk.length
      if (receivedBytes > maxBytes) break
      chunks.push(chunk)
    }
  } catch (cause) {
    throwUnreachable(url, cause as Error)
  }
  if (receivedBytes > maxBytes) throw createSizeError(url, maxBytes)
  return new Uint8Array(Buffer.concat(chunks))
}

const createSizeError = (file: string, maxBytes: number) =>
  new Error(`${file} has more than ${maxBytes} bytes, which it should not exceed`)

/**
 * Throws an `Error` with the cause that `fetch` has found, such as ECONNREFUSED, and the remedy.
 */
function throwUnreachable(url: string, error: Error): never {
  const problem = `${new URL(url).host} cannot be reached (${findRootMessage(error)})`
  const remedy = 'Without a network, copy the registry on another machine with eyrie plugin mirror'
  throw new Error(`${problem}. ${remedy}`, { cause: error })
}
