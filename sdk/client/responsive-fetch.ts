/** Time after which a server that sends nothing more is regarded as hung. */
const MAX_SILENCE_MS = 30_000

/**
 * Fetches a file. Unlike a time limit for the whole response, this suits a file of any length over
 * a slow network: the call, or the reading of the body, rejects with a `TimeoutError` if the server
 * sends nothing for `MAX_SILENCE_MS`.
 */
export async function fetchResponsive(url: string, request: RequestInit = {}): Promise<Response> {
  const silence = new AbortController()
  const timer = setTimeout(() => {
    const problem = `it has sent nothing for ${MAX_SILENCE_MS / 1000} s`
    silence.abort(new DOMException(problem, 'TimeoutError'))
  }, MAX_SILENCE_MS).unref()
  const signals = [silence.signal, ...(request.signal ? [request.signal] : [])]
  const response = await fetch(url, { ...request, signal: AbortSignal.any(signals) })
  timer.refresh()
  const body = response.body?.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        timer.refresh()
        controller.enqueue(chunk)
      },
    }),
  )
  return new Response(body, response)
}
