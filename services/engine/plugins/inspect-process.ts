import { loadElement, resolveSdk } from '../plugin-host/load-element.ts'

/**
 * Entry point of the process in which `inspectElements` loads the elements of an uploaded plugin. It replies with
 * `{ problem? }` and exits. It opens no element.
 */

export interface InspectionRequest {
  entry: string
  elements: string[]
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
    problem = error instanceof Error ? error.message : String(error)
  }
  process.send!({ problem: problem?.slice(0, 2000) }, () => process.exit())
})
process.once('disconnect', () => process.exit())
