import { EyrieError, errorBody } from '@eyrie/contract'
import { tryParseJson } from '@eyrie/contract/parse'
import { WebSocket } from 'ws'
import type { z } from 'zod'

const TIMEOUT_MS = 5_000

/** Another service of this appliance, asked with a token that its callers here never see. */
export interface Upstream {
  /** Throws EyrieError: `unavailable` when the service does not answer, else the service's own error. */
  fetch(path: string, request?: UpstreamRequest): Promise<Response>
  get<T extends z.ZodType>(path: string, answer: T): Promise<z.output<T>>
  /** An open WebSocket, paused so that its first message is not missed. Throws as `fetch` does. */
  connect(path: string): Promise<WebSocket>
}

export interface UpstreamRequest {
  method: string
  headers?: Headers
  body?: string | undefined
}

export interface UpstreamOptions {
  name: string
  url: string
  token: string | undefined
  /** Callers bring what lets them in: that it does not is told them, and no trouble of ours. */
  callersAnswer?: boolean
}

export function createUpstream({ name, url, token, callersAnswer = false }: UpstreamOptions): Upstream {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}

  const upstream: Upstream = {
    async fetch(path, request) {
      // The answer has to begin by then; how long it is, such as a recording, is another matter.
      const impatience = new AbortController()
      const timer = setTimeout(() => impatience.abort(), TIMEOUT_MS)
      const { signal } = impatience
      const all = { ...Object.fromEntries(request?.headers ?? []), ...headers }
      const response = await fetch(new URL(path, url), { ...request, headers: all, signal })
        .catch(cause => {
          throw unreachable(name, cause)
        })
        .finally(() => clearTimeout(timer))
      if (!response.ok) throw refusal(name, response.status, await response.text(), callersAnswer)
      return response
    },

    async get(path, answer) {
      return answer.parse(await (await upstream.fetch(path)).json())
    },

    connect(path) {
      const address = new URL(path, url)
      address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
      const socket = new WebSocket(address, {
        headers,
        handshakeTimeout: TIMEOUT_MS,
        perMessageDeflate: false,
      })
      return new Promise((resolve, reject) => {
        socket.once('open', () => {
          socket.pause()
          resolve(socket)
        })
        socket.once('error', cause => reject(unreachable(name, cause)))
        socket.once('unexpected-response', async (request, response) => {
          const body = await response.toArray().catch(() => [])
          reject(refusal(name, response.statusCode ?? 0, Buffer.concat(body).toString(), callersAnswer))
          request.destroy()
        })
      })
    },
  }
  return upstream
}

const unreachable = (name: string, cause: Error) =>
  new EyrieError('unavailable', `${name} is not reachable`, { value: { service: name }, cause })

/** The error that a service answered, in its own words where it had any. */
function refusal(name: string, status: number, body: string, callersAnswer: boolean): EyrieError {
  const parsed = errorBody.safeParse(tryParseJson(body))
  if (!parsed.success || (parsed.data.code === 'auth' && !callersAnswer)) {
    return new EyrieError('unavailable', `${name} answered ${status}`, { value: { service: name } })
  }
  return new EyrieError(parsed.data.code, parsed.data.reason, { status, value: parsed.data.value })
}
