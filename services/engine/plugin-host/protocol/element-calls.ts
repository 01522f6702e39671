import type { ElementFetch, ElementInfer, ElementStorage } from '@eyrie/element'
import { decodeResult, type EncodedResult, type InferCall } from './infer-call.ts'

/**
 * A call of an element in a thread or process. It asks the engine to send a request, to read or
 * write a file of the element, or to run a model. An element can send calls at any time. The engine
 * answers each with a reply of the same id. Binary data is encoded as base64.
 */
export type ElementCall =
  | {
      method: 'fetch'
      url: string
      request: { method?: string; headers?: Record<string, string>; body?: string }
    }
  | { method: 'read' | 'delete'; name: string }
  | { method: 'write'; name: string; content: string }
  | { method: 'list' }
  | InferCall

export interface CallMessage {
  type: 'call'
  id: number
  call: ElementCall
}

export type ReplyMessage = { type: 'reply'; id: number; value?: unknown; error?: string }

/** The functions of an element that call the engine. */
export interface CallingFunctions {
  fetch: ElementFetch
  storage: ElementStorage
  infer: ElementInfer
  handleReply(reply: ReplyMessage): void
}

/**
 * Creates the functions of an element that send calls and wait for their replies.
 * `getFrameNumber` returns the number of the last frame for which `process` was called: models
 * run on that frame by default.
 */
export function createCallingFunctions(
  send: (message: CallMessage) => void,
  getFrameNumber: () => number | undefined,
): CallingFunctions {
  /** The expected replies by id of the call. A reply that never arrives ends with the process. */
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0

  function call(content: ElementCall): Promise<unknown> {
    const id = ++lastId
    const reply = Promise.withResolvers<unknown>()
    pending.set(id, reply)
    send({ type: 'call', id, call: content })
    return reply.promise
  }

  return {
    fetch: async (url, { method, headers, body } = {}) => {
      const request = {
        ...(method !== undefined && { method }),
        ...(headers && { headers }),
        ...(body !== undefined && { body: encode(body) }),
      }
      const response = (await call({ method: 'fetch', url, request })) as EncodedResponse
      return { ...response, body: decode(response.body) }
    },
    storage: {
      read: async name => {
        const content = (await call({ method: 'read', name })) as string | undefined
        return content === undefined ? undefined : decode(content)
      },
      write: async (name, content) => {
        await call({ method: 'write', name, content: encode(content) })
      },
      delete: async name => {
        await call({ method: 'delete', name })
      },
      list: async () => (await call({ method: 'list' })) as string[],
    },
    infer: async (model, { frame, ...options } = {}) => {
      const n = frame ? frame.n : getFrameNumber()
      return decodeResult((await call({ method: 'infer', model, n, ...options })) as EncodedResult)
    },
    handleReply: ({ id, value, error }) => {
      const reply = pending.get(id)
      if (!reply) return
      pending.delete(id)
      if (error === undefined) reply.resolve(value)
      else reply.reject(new Error(error))
    },
  }
}

/** The value of the reply to `fetch`. */
export interface EncodedResponse {
  status: number
  headers: Record<string, string>
  body: string
}

// `Buffer.from` accepts both types, but has no overload for their union.
const encode = (content: string | Uint8Array) =>
  Buffer.from(content as Uint8Array).toString('base64')

const decode = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
