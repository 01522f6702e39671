import { ApiError, READ_TIMEOUT_MS, request, UNREACHABLE } from './api-request.ts'

/** A response that is read while it arrives. */
export interface StreamedResponse {
  headers: Headers
  /** The body. Ending the iteration early ends the request. */
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>
}

export interface StreamedRequestOptions {
  signal: AbortSignal
  /** How long to wait for the response, and for each chunk. */
  maxSilenceMs?: number
}

/**
 * Requests a response that is read while it arrives. Throws `ApiError`, and so do the chunks, also
 * when nothing arrives for a few seconds.
 */
export async function requestStream(
  path: string,
  { signal, maxSilenceMs = READ_TIMEOUT_MS }: StreamedRequestOptions,
): Promise<StreamedResponse> {
  const silence = new AbortController()
  /** Ends the request if this takes too long. */
  async function limitSilence<T>(arrival: Promise<T>): Promise<T> {
    const timer = setTimeout(() => silence.abort(), maxSilenceMs)
    return arrival.finally(() => clearTimeout(timer))
  }

  async function* readChunks(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
    const reader = body.getReader()
    const readNext = () =>
      reader.read().catch(cause => {
        throw new ApiError(UNREACHABLE, 0, { cause })
      })
    // Safari cannot iterate over a `ReadableStream`.
    try {
      for (;;) {
        const { done, value: chunk } = await limitSilence(readNext())
        if (done) return
        yield chunk
      }
    } finally {
      await reader.cancel().catch(() => {})
    }
  }

  const init = { signal: AbortSignal.any([signal, silence.signal]) }
  const { headers, body } = await limitSilence(request(path, init))
  return { headers, chunks: readChunks(body!) }
}
