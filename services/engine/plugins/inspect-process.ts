import { loadElement, resolveSdk } from '../plugin-host/load-element.ts'

/** A process of its own that loads a plugin's elements and tells whether that went well. It opens none. */

export interface Inspection {
  entry: string
  elements: string[]
}

process.once('message', async ({ entry, elements }: Inspection) => {
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
