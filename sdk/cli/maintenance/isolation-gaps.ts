import { readHealth } from '@eyrie/client'
import { type IsolationLevel, isolation } from '@eyrie/contract/health'
import type { Terminal } from '../command/terminal.ts'
import { getServiceUrl } from '../engine/engine-access.ts'

/** A service that works, but not within all of its boundaries. */
export interface IsolationGap {
  service: string
  isolation: IsolationLevel
  /** What is not limited, each with its remedy. */
  missing: string[]
}

/**
 * Asks the running services whether they are within all of their boundaries. Services that do
 * not answer are omitted.
 */
export async function findIsolationGaps(terminal: Terminal): Promise<IsolationGap[]> {
  const services = {
    engine: getServiceUrl('engine', terminal),
    media: getServiceUrl('media', terminal),
  }
  const gaps = Object.entries(services).map(async ([service, url]): Promise<IsolationGap[]> => {
    const health = await readHealth(url)
    const reported = isolation.safeParse(health.isolation)
    if (!reported.success || reported.data.level === 'full') return []
    return [{ service, isolation: reported.data.level, missing: reported.data.missing }]
  })
  return (await Promise.all(gaps)).flat()
}
