import type { Capabilities } from '@eyrie/contract/plugin'
import type { Egress } from '@eyrie/kit'
import type { ElementCall } from '../../protocol/element-calls.ts'
import type { EncodedResult, InferCall } from '../../protocol/infer-call.ts'
import { fetchForElement } from './network-access.ts'
import { PrivateStorage } from './private-storage.ts'

/** Maximum number of calls that an element has in progress at the same time. */
const MAX_CALLS = 8

export interface CallHandlerOptions {
  /** What the manifest declares; undefined if it declares nothing. */
  declared: Pick<Capabilities, 'network' | 'storage_bytes'> | undefined
  egress: Egress
  /** Runs a model. Rejects with the reason. */
  infer?(call: InferCall): Promise<EncodedResult>
  /** Folder of the files that the element stores. */
  folder: string
}

/**
 * Returns the function that handles the calls of an element: it sends a request, reads or writes a
 * file, or runs a model. It rejects with the reason if the call fails, or if the manifest does not
 * declare what the call uses.
 */
export function createCallHandler({
  declared,
  egress,
  infer = rejectInference,
  folder,
}: CallHandlerOptions): (call: ElementCall) => Promise<unknown> {
  const declaredServers = declared?.network ?? []
  const maxBytes = declared?.storage_bytes
  const storage = maxBytes === undefined ? undefined : new PrivateStorage(folder, maxBytes)
  let callsInProgress = 0

  async function handle(call: Exclude<ElementCall, InferCall>): Promise<unknown> {
    if (call.method === 'fetch') return fetchForElement(call, declaredServers, egress)
    if (storage) return storage.handle(call)
    throw new Error(
      'the manifest does not declare storage: add "storage_bytes": 1000000 to the capabilities of the element',
    )
  }

  return async (call: ElementCall): Promise<unknown> => {
    // Calls that run models are limited elsewhere.
    if (call.method === 'infer') return infer(call)
    if (callsInProgress >= MAX_CALLS) {
      throw new Error(`the element has ${MAX_CALLS} calls in progress already: await them first`)
    }
    callsInProgress += 1
    try {
      return await handle(call)
    } finally {
      callsInProgress -= 1
    }
  }
}

async function rejectInference(): Promise<never> {
  throw new Error('the element was opened without models')
}
