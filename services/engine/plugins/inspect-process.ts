import { dirname } from 'node:path'
import { describeError } from '@eyrie/element/error-location'
import { loadElement, resolveSdk } from '../plugin-host/protocol/load-element.ts'

/**
 * Entry point of the process in which `inspectElements` checks an uploaded plugin. The process loads the elements (the
 * steps of pipelines that the plugin provides) without opening them, answers with `{ problem? }` and exits.
 */

const MAX_PROBLEM_LENGTH = 2000

/** The first message to the process: what it loads. */
export interface InspectionRequest {
  /** Path of the module that exports the elements. */
  entry: string
  /** Names of the elements. */
  elements: string[]
  /** Whether an element reads pictures, for which those in Python need a library. */
  needsPixels: boolean
}

process.once('message', async ({ entry, elements }: InspectionRequest) => {
  resolveSdk()
  let problem: string | undefined
  try {
    for (const name of elements) {
      const { open } = await loadElement(entry, name)
      if (typeof open !== 'function') throw new Error(`element ${name} has no function open`)
    }
  } catch (error) {
    problem = describeError(error, dirname(entry))
  }
  process.send!({ problem: problem?.slice(0, MAX_PROBLEM_LENGTH) }, () => process.exit())
})
process.once('disconnect', () => process.exit())
