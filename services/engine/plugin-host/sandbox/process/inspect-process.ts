import { once } from 'node:events'
import { Socket } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { describeError } from '@eyrie/element/error-location'
import { loadElement, resolveSdk } from '../../protocol/load-element.ts'
import { MESSAGE_SOCKET } from './process-descriptors.ts'

/**
 * Entry point of the process in which `inspectElements` checks an uploaded plugin. The process
 * loads the elements (the steps of pipelines that the plugin provides) without opening them, lets
 * them migrate arguments, answers and waits to be ended. Request and answer are a line of JSON
 * each.
 */

const MAX_PROBLEM_LENGTH = 2000

/** What the process loads. */
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

/** Returns the answer to a request. */
async function inspect({ entry, elements, migrations }: InspectionRequest): Promise<string> {
  resolveSdk()
  try {
    for (const name of elements) {
      const { open } = await loadElement(entry, name)
      if (typeof open !== 'function') throw new Error(`element ${name} has no function open`)
    }
    const migrated: unknown[] = []
    for (const { element, args, from } of migrations) {
      const { migrate } = await loadElement(entry, element)
      migrated.push(migrate ? await migrate(args, from) : null)
    }
    return JSON.stringify({ migrated })
  } catch (error) {
    const problem = describeError(error, dirname(entry)).slice(0, MAX_PROBLEM_LENGTH)
    return JSON.stringify({ problem })
  }
}

const engine = new Socket({ fd: MESSAGE_SOCKET, readable: true, writable: true })
// The engine has ended.
engine.on('error', () => process.exit())
engine.on('close', () => process.exit())
const [line] = await once(createInterface({ input: engine }), 'line')
engine.write(`${await inspect(JSON.parse(line))}\n`)
