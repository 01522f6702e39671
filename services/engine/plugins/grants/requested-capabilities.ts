import { formatStorage } from '@eyrie/contract/describe-capabilities'
import { type Capabilities, capabilities } from '@eyrie/contract/plugin'
import type { RequestedCapability } from '@eyrie/contract/requested-capability'
import { z } from 'zod'
import { describeNewModels } from './requested-models.ts'

/**
 * Decides whether a version of a plugin asks for more than was granted. Pictures, models, servers and storage are compared for each
 * element by name, because an element that may do both could send pictures to a server. Events, counters and CPU time are
 * compared for the plugin as a whole.
 */

/** What an element asks for. Without `capabilities` it reports what it wants, and reads any pictures if it reads some. */
export const elementRequest = z.strictObject({
  readsPictures: z.boolean(),
  capabilities: capabilities.optional(),
})
export type ElementRequest = z.infer<typeof elementRequest>

/** What a version asks for, by element. */
export const versionRequest = z.record(z.string(), elementRequest)
export type VersionRequest = Readonly<Record<string, ElementRequest>>

/** Returns what a version asks for that none of the grants covers. */
export function findNewCapabilities(
  requested: VersionRequest,
  grants: readonly VersionRequest[],
): RequestedCapability[] {
  const grantedToPlugin = grants.flatMap(grant => Object.values(grant))
  return Object.entries(requested).flatMap(([element, request]) => {
    const grantedToElement = grants.flatMap(grant => (Object.hasOwn(grant, element) ? grant[element]! : []))
    const found: (Omit<RequestedCapability, 'element'> | undefined)[] = [
      findNewFrames(request, grantedToElement),
      findNewModels(request, grantedToElement),
      findNewServers(request, grantedToElement),
      findNewStorage(request, grantedToElement),
      findNewBudget(request, grantedToPlugin),
      findNewEvents(request, grantedToPlugin),
      findNewCounters(request, grantedToPlugin),
    ]
    return found.filter(capability => capability !== undefined).map(rest => ({ element, ...rest }))
  })
}

/** Formats what is new for a message: `crowd sends requests to api.example.com:443; crowd …`. */
export const formatRequested = (requested: readonly RequestedCapability[]) =>
  requested.map(({ element, description }) => `${element} ${description}`).join('; ')

type New = Omit<RequestedCapability, 'element'> | undefined

type Pictures = NonNullable<Capabilities['frames']> | 'any' | undefined

const getPictures = ({ readsPictures, capabilities }: ElementRequest): Pictures =>
  capabilities ? capabilities.frames : readsPictures ? 'any' : undefined

/** Larger pictures are more, and colours are more than shades of grey. All colour formats show the same. */
function findNewFrames(request: ElementRequest, granted: readonly ElementRequest[]): New {
  const pictures = getPictures(request)
  if (pictures === undefined) return undefined
  const grantedPictures = granted.map(getPictures).filter(each => each !== undefined)
  if (grantedPictures.some(each => includesPictures(each, pictures))) return undefined
  const before = grantedPictures.at(-1)
  return {
    capability: 'frames',
    description: `reads ${formatPictures(pictures)}${before ? `, granted: ${formatPictures(before)}` : ''}`,
  }
}

function includesPictures(granted: NonNullable<Pictures>, requested: NonNullable<Pictures>): boolean {
  if (granted === 'any') return true
  if (requested === 'any') return false
  if (granted.format === 'GRAY8' && requested.format !== 'GRAY8') return false
  return requested.width <= granted.width && requested.height <= granted.height
}

const formatPictures = (pictures: NonNullable<Pictures>) =>
  pictures === 'any'
    ? 'pictures of any size'
    : `pictures (${pictures.format}, up to ${pictures.width}×${pictures.height})`

function findNewModels({ capabilities }: ElementRequest, granted: readonly ElementRequest[]): New {
  const grantedModels = granted.flatMap(each => each.capabilities?.inference ?? [])
  const description = describeNewModels(capabilities?.inference, grantedModels)
  return description === undefined ? undefined : { capability: 'inference', description }
}

function findNewServers({ capabilities }: ElementRequest, granted: readonly ElementRequest[]): New {
  const grantedServers = new Set(granted.flatMap(each => each.capabilities?.network ?? []))
  const added = (capabilities?.network ?? []).filter(server => !grantedServers.has(server))
  if (added.length === 0) return undefined
  return { capability: 'network', description: `sends requests to ${added.join(', ')}` }
}

function findNewStorage({ capabilities }: ElementRequest, granted: readonly ElementRequest[]): New {
  const bytes = capabilities?.storage_bytes ?? 0
  const grantedBytes = Math.max(0, ...granted.map(each => each.capabilities?.storage_bytes ?? 0))
  if (bytes <= grantedBytes) return undefined
  const before = grantedBytes > 0 ? `, granted: ${formatStorage(grantedBytes)}` : ''
  return {
    capability: 'storage_bytes',
    description: `stores up to ${formatStorage(bytes)} on each channel${before}`,
  }
}

const getBudget = ({ capabilities }: ElementRequest) => capabilities?.budget_ms ?? Number.POSITIVE_INFINITY

function findNewBudget(request: ElementRequest, granted: readonly ElementRequest[]): New {
  const budget = getBudget(request)
  const grantedBudget = Math.max(0, ...granted.map(getBudget))
  if (budget <= grantedBudget) return undefined
  const before = grantedBudget > 0 ? `, granted: ${grantedBudget} ms` : ''
  const limit = Number.isFinite(budget) ? `up to ${budget} ms of CPU time` : 'any CPU time'
  return { capability: 'budget_ms', description: `uses ${limit} per frame${before}` }
}

/** Fields of events are not compared: the name and the class, which all events may have, carry any text anyway. */
function findNewEvents({ capabilities }: ElementRequest, granted: readonly ElementRequest[]): New {
  if (granted.some(reportsAnything)) return undefined
  if (!capabilities) return { capability: 'events', description: 'reports any events and counters' }
  const grantedTypes = new Set(granted.flatMap(each => Object.keys(each.capabilities?.events ?? {})))
  const added = Object.keys(capabilities.events).filter(type => !grantedTypes.has(type))
  return added.length === 0
    ? undefined
    : { capability: 'events', description: `reports the events ${added.join(', ')}` }
}

/** An element without capabilities is covered by its events. */
function findNewCounters({ capabilities }: ElementRequest, granted: readonly ElementRequest[]): New {
  if (granted.some(reportsAnything)) return undefined
  const grantedCounters = new Set(granted.flatMap(each => each.capabilities?.counters ?? []))
  const added = (capabilities?.counters ?? []).filter(counter => !grantedCounters.has(counter))
  return added.length === 0
    ? undefined
    : { capability: 'counters', description: `counts ${added.join(', ')}` }
}

const reportsAnything = ({ capabilities }: ElementRequest) => capabilities === undefined
