import { formatStorage } from '@eyrie/contract/describe-capabilities'
import { type Capabilities, capabilities } from '@eyrie/contract/plugin'
import type { RequestedCapability } from '@eyrie/contract/requested-capability'
import { z } from 'zod'
import { describeNewModels } from './requested-models.ts'

/**
 * Finds out what a version of a plugin asks for beyond what was granted. Pictures, models,
 * servers and storage are compared for each element: an element that may use several of them
 * could, for example, send pictures to a server. Events, counters and CPU time are compared for
 * the plugin as a whole.
 */

/**
 * What an element asks for. Without `capabilities`, it reports anything, and reads pictures of any
 * size if it reads pictures.
 */
export const elementRequest = z.strictObject({
  readsPictures: z.boolean(),
  capabilities: capabilities.optional(),
})
export type ElementRequest = z.infer<typeof elementRequest>

/** What a version asks for, by element. */
export const versionRequest = z.record(z.string(), elementRequest)
export type VersionRequest = Readonly<Record<string, ElementRequest>>

type ElementCapability = Omit<RequestedCapability, 'element'>

/** Returns what a version asks for that none of the grants covers. */
export function findNewCapabilities(
  requested: VersionRequest,
  grants: readonly VersionRequest[],
): RequestedCapability[] {
  const grantedToPlugin = grants.flatMap(grant => Object.values(grant))
  return Object.entries(requested).flatMap(([element, request]) => {
    const grantedToElement = grants.flatMap(grant =>
      Object.hasOwn(grant, element) ? grant[element]! : [],
    )
    const newCapabilities = [
      findNewFrames(request, grantedToElement),
      findNewModels(request, grantedToElement),
      findNewServers(request, grantedToElement),
      findNewStorage(request, grantedToElement),
      findNewBudget(request, grantedToPlugin),
      findNewEvents(request, grantedToPlugin),
      findNewCounters(request, grantedToPlugin),
    ]
    return newCapabilities
      .filter(capability => capability !== undefined)
      .map(capability => ({ element, ...capability }))
  })
}

/**
 * Formats new capabilities for a message: `crowd sends requests to api.example.com:443; crowd …`.
 */
export const formatRequested = (requested: readonly RequestedCapability[]) =>
  requested.map(({ element, description }) => `${element} ${description}`).join('; ')

/**
 * Returns what an element asks for of one kind, beyond what the granted requests cover;
 * undefined if they cover it.
 */
type FindNew = (
  request: ElementRequest,
  granted: readonly ElementRequest[],
) => ElementCapability | undefined

/** The format and the maximum size of pictures. */
type Pictures = NonNullable<Capabilities['frames']> | 'any'

const findNewFrames: FindNew = (request, granted) => {
  const pictures = getPictures(request)
  if (pictures === undefined) return undefined
  const grantedPictures = granted.map(getPictures).filter(other => other !== undefined)
  if (grantedPictures.some(other => includesPictures(other, pictures))) return undefined
  const latest = grantedPictures.at(-1)
  const suffix = latest ? `, granted: ${formatPictures(latest)}` : ''
  return { capability: 'frames', description: `reads ${formatPictures(pictures)}${suffix}` }
}

function getPictures({ readsPictures, capabilities }: ElementRequest): Pictures | undefined {
  if (capabilities) return capabilities.frames
  return readsPictures ? 'any' : undefined
}

/**
 * Whether the requested pictures show no more than the granted ones: they are not larger, and in
 * shades of grey if the granted ones are.
 */
function includesPictures(granted: Pictures, requested: Pictures): boolean {
  if (granted === 'any') return true
  if (requested === 'any') return false
  if (granted.format === 'GRAY8' && requested.format !== 'GRAY8') return false
  return requested.width <= granted.width && requested.height <= granted.height
}

const formatPictures = (pictures: Pictures) =>
  pictures === 'any'
    ? 'pictures of any size'
    : `pictures (${pictures.format}, up to ${pictures.width}×${pictures.height})`

const findNewModels: FindNew = ({ capabilities }, granted) => {
  const grantedModels = granted.flatMap(other => other.capabilities?.inference ?? [])
  const description = describeNewModels(capabilities?.inference, grantedModels)
  return description === undefined ? undefined : { capability: 'inference', description }
}

const findNewServers: FindNew = ({ capabilities }, granted) => {
  const grantedServers = new Set(granted.flatMap(other => other.capabilities?.network ?? []))
  const added = (capabilities?.network ?? []).filter(server => !grantedServers.has(server))
  if (added.length === 0) return undefined
  return { capability: 'network', description: `sends requests to ${added.join(', ')}` }
}

const findNewStorage: FindNew = ({ capabilities }, granted) => {
  const bytes = capabilities?.storage_bytes ?? 0
  const grantedBytes = Math.max(0, ...granted.map(other => other.capabilities?.storage_bytes ?? 0))
  if (bytes <= grantedBytes) return undefined
  const suffix = grantedBytes > 0 ? `, granted: ${formatStorage(grantedBytes)}` : ''
  return {
    capability: 'storage_bytes',
    description: `stores up to ${formatStorage(bytes)} on each channel${suffix}`,
  }
}

const findNewBudget: FindNew = (request, granted) => {
  const budgetMs = getBudgetMs(request)
  const grantedMs = Math.max(0, ...granted.map(getBudgetMs))
  if (budgetMs <= grantedMs) return undefined
  const suffix = grantedMs > 0 ? `, granted: ${grantedMs} ms` : ''
  const limit = Number.isFinite(budgetMs) ? `up to ${budgetMs} ms of CPU time` : 'any CPU time'
  return { capability: 'budget_ms', description: `uses ${limit} per frame${suffix}` }
}

const getBudgetMs = ({ capabilities }: ElementRequest) =>
  capabilities?.budget_ms ?? Number.POSITIVE_INFINITY

/**
 * Fields of events are not compared: the name and the class, which all events may have,
 * carry any text anyway.
 */
const findNewEvents: FindNew = ({ capabilities }, granted) => {
  if (granted.some(reportsAnything)) return undefined
  if (!capabilities) return { capability: 'events', description: 'reports any events and counters' }
  const grantedTypes = new Set(
    granted.flatMap(other => Object.keys(other.capabilities?.events ?? {})),
  )
  const added = Object.keys(capabilities.events).filter(type => !grantedTypes.has(type))
  if (added.length === 0) return undefined
  return { capability: 'events', description: `reports the events ${added.join(', ')}` }
}

/** An element without capabilities asks for its counters together with its events. */
const findNewCounters: FindNew = ({ capabilities }, granted) => {
  if (granted.some(reportsAnything)) return undefined
  const grantedCounters = new Set(granted.flatMap(other => other.capabilities?.counters ?? []))
  const added = (capabilities?.counters ?? []).filter(counter => !grantedCounters.has(counter))
  if (added.length === 0) return undefined
  return { capability: 'counters', description: `counts ${added.join(', ')}` }
}

const reportsAnything = ({ capabilities }: ElementRequest) => capabilities === undefined
