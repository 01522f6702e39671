import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { Readable } from 'node:stream'
import { ByteLengthQueuingStrategy } from 'node:stream/web'
import { formatByteLimit } from '@eyrie/contract/format-bytes'
import { createCheckedEgress, type Egress } from './egress.ts'

/** A request as for the global `fetch`. */
export interface EgressRequest {
  method?: string | undefined
  headers?: Record<string, string> | undefined
  body?: string | Uint8Array | undefined
  /** Aborts the request and, until it ends, its response. */
  signal?: AbortSignal | undefined
  /** Accepts every certificate of a TLS server. */
  tlsInsecure?: boolean | undefined
  /**
   * Size at which the response is aborted, so that no server can exhaust the memory. By default,
   * only responses with an error status are limited.
   */
  maxBytes?: number | undefined
}

/** A response has more than the permitted number of bytes. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError'
}

/** Bytes of a response that are buffered while the caller does not read. */
const BUFFER_BYTES = 64 << 10
/** Maximum size of a response with an error status. */
const MAX_ERROR_BYTES = 1 << 20
/** Statuses of responses without a body, which `Response` rejects. */
const NO_BODY = new Set([204, 205, 304])
/** Methods of requests that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Connects to the services of this appliance. Every address is permitted, because the operator
 * names them in the environment.
 */
export const serviceEgress = createCheckedEgress(() => {})

/**
 * Sends a request to a server for which an egress permits connections. Does not follow redirects,
 * because they may lead to a server that the caller must not reach: throws an `Error` for them, as
 * for failed connections. Reading a response fails with `ResponseTooLargeError` if it is too large.
 */
export async function fetchFrom(
  egress: Egress,
  url: URL | string,
  options: EgressRequest = {},
): Promise<Response> {
  const target = new URL(url)
  const response = await send(egress, target, options)
  const { statusCode: status = 0, rawHeaders, headers } = response
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    response.destroy()
    throw new Error(`${target.origin} redirects to another address: use the final address instead`)
  }

  const hasBody = options.method !== 'HEAD' && !NO_BODY.has(status)
  if (!hasBody) response.resume()
  const maxBytes = options.maxBytes ?? (status >= 400 ? MAX_ERROR_BYTES : undefined)
  const body = hasBody ? limitSize(toStream(response), target, maxBytes) : null
  return new Response(body, { status, headers: toHeaders(rawHeaders) })
}

/** Resolves to the body of an error response, such as that of a handshake; empty if it is lost. */
export async function readErrorBody(response: IncomingMessage, url: URL): Promise<string> {
  const body = limitSize(toStream(response), url, MAX_ERROR_BYTES)
  return new Response(body).text().catch(() => '')
}

/**
 * Sends a request to a service of this appliance. `path` is relative to the base URL, which
 * the environment configures. Throws an `Error` for a path that leads to another server, and
 * as `fetchFrom` does.
 */
export function fetchService(
  base: string,
  path: string,
  options?: EgressRequest,
): Promise<Response> {
  return fetchFrom(serviceEgress, resolveServicePath(base, path), options)
}

/**
 * Returns the URL of a path of a service. Throws an `Error` for a path that leads to another
 * server, such as `//host`.
 */
export function resolveServicePath(base: string, path: string): URL {
  const url = new URL(path, base)
  if (url.origin !== new URL(base).origin) throw new Error(`${path} is not a path of ${base}`)
  return url
}

/**
 * Sends a request. A kept connection may fail when it is used again, because the server has closed
 * it or was restarted meanwhile. A request that changes nothing is then sent again, over another
 * kept connection or a new one.
 */
async function send(egress: Egress, url: URL, options: EgressRequest): Promise<IncomingMessage> {
  const { method = 'GET', headers = {}, body, signal, tlsInsecure } = options
  signal?.throwIfAborted()
  const sendRequest = url.protocol === 'https:' ? requestHttps : requestHttp
  const request: ClientRequest = sendRequest(url, {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    },
    agent: egress.agent(url),
    ...(signal && { signal }),
    ...(tlsInsecure && { rejectUnauthorized: false }),
  })
  // The response reports the errors that follow it.
  request.on('error', () => {})
  request.end(body)
  try {
    const [response] = await once(request, 'response')
    return response
  } catch (error) {
    signal?.throwIfAborted()
    if (request.reusedSocket && SAFE_METHODS.has(method)) return send(egress, url, options)
    throw error
  }
}

/** Reads a response only as fast as the caller does. */
function toStream(response: IncomingMessage): ReadableStream<Uint8Array> {
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES })
  return Readable.toWeb(response, { strategy }) as ReadableStream<Uint8Array>
}

/** Makes the stream fail, and close its connection, once it has more than `maxBytes`. */
function limitSize(
  stream: ReadableStream<Uint8Array>,
  { origin }: URL,
  maxBytes: number | undefined,
): ReadableStream<Uint8Array> {
  if (maxBytes === undefined) return stream
  const limit = formatByteLimit(maxBytes)
  let size = 0
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length
      if (size <= maxBytes) return controller.enqueue(chunk)
      throw new ResponseTooLargeError(`the response of ${origin} is larger than ${limit}`)
    },
  })
  return stream.pipeThrough(limiter)
}

/** Converts the raw headers of Node, in which names and values alternate. */
function toHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  return headers
}
