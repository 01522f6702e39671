import { frameResult } from '@eyrie/contract/object'
import { parseAs } from '@eyrie/contract/parse'
import type { Run } from './run-element.ts'

/**
 * Returns what the engine would reject or lose of the results of a run, each with the number of
 * its frame; nothing if all is well. Results reach the engine as JSON: other values, such as
 * NaN and maps, do not.
 */
export function findProblems({ results }: Run): string[] {
  return results.flatMap(({ frame, result }) => {
    const problems: string[] = []
    try {
      parseAs(frameResult, result)
    } catch (error) {
      problems.push((error as Error).message)
    }
    if (!isJson(result)) problems.push('the result contains values that JSON cannot express')
    return problems.map(problem => `frame ${frame.n}: ${problem}`)
  })
}

/** Whether all numbers are finite and all objects are plain. Undefined fields are omitted. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) {
    return typeof value !== 'function' && typeof value !== 'bigint'
  }
  const prototype = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every(isJson)
}
