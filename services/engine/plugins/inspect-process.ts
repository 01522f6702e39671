import { dirname } from 'node:path'
import { describeError } from '@eyrie/element/error-location'
import { loadElement, resolveSdk } from '../plugin-host/protocol/load-element.ts'

/**
 * Entry point of the process in which `inspectElements` checks an uploaded plugin. The process
 * loads the elements (the steps of pipelines that the plugin provides) without opening them, lets
 * them migrate arguments, answers and exits.
 */

const MAX_PROBLEM_LENGTH = 2000

/** The first message to the process: what it loads. */
export interface InspectionRequest {
  /** Path of the module that exports the elements. */
  entry: string
  /** Names of the elements. */
  elements: string[]
  /** Whether an element reads pictures or runs models, for which those in Python need a library. */
  needsArrays: boolean
  migrations: Migration[]
}

/** Arguments of an element, as version `from` of the plugin accepts them. */
export interface Migration {
  element: string
  args: Record<string, unknown>
  from: string
}

process.once('message', async ({ entry, elements, migrations }: InspectionRequest) => {
  resolveSdk()
  let problem: string | undefined
  const migrated: unknown[] = []
  try {
    for (const name of elements) {
      const { open } = await loadElement(entry, name)
      if (typeof open !== 'function') throw new Error(`element ${name} has no function open`)
    }
    for (const { element, args, from } of migrations) {
      const { migrate } = await loadElement(entry, element)
      migrated.push(migrate ? await migrate(args, from) : null)
    }
  } catch (error) {
    problem = describeError(error, dirname(entry))
  }
  process.send!({ problem: problem?.slice(0, MAX_PROBLEM_LENGTH), migrated }, () => process.exit())
})
process.once('disconnect', () => process.exit())
