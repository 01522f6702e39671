import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { tryParseJson } from '@eyrie/contract/parse'
import { z } from 'zod'

/**
 * Shared memory of one channel: half a second of pictures for a model of usual size. compose.yaml
 * contains the same number.
 */
export const RING_BYTES_PER_CHANNEL = 10 << 20
/**
 * What media needs in addition to the pictures: its libraries, and packets of live
 * views and recordings.
 */
export const MEDIA_BASE_BYTES = 512 << 20

/** How to change the size of the volume, which is fixed when the volume is created. */
const RECREATE = 'run docker compose down, docker volume rm eyrie_ring, and docker compose up -d'
const UNITS: Record<string, number> = { '': 1, b: 1, k: 1 << 10, m: 1 << 20, g: 1 << 30 }

/** The memory for decoded pictures, as far as it is known before the start. */
export interface RingMemory {
  /** Number of channels for which the memory is planned: EYRIE_CHANNELS. */
  channels: number
  /** Size of the volume for decoded pictures, in bytes. */
  bytes: number
  /** Number of channels that are configured already. */
  configuredChannels: number
  /** Limit of the memory of media in bytes. */
  mediaBytes: number
}

/**
 * Returns why the memory for decoded pictures is too small, and what to do about it. Undefined
 * if it is sufficient.
 */
export function describeRingProblem(memory: RingMemory): string | undefined {
  const { channels, bytes, configuredChannels, mediaBytes } = memory
  if (configuredChannels > channels) {
    return `${configuredChannels} channels are configured, and the memory for decoded pictures is planned for ${channels}: set EYRIE_CHANNELS=${configuredChannels} or more in .env, then ${RECREATE}`
  }
  const needed = channels * RING_BYTES_PER_CHANNEL
  if (bytes < needed) {
    return `the volume for decoded pictures has ${formatBytes(bytes)}, and EYRIE_CHANNELS=${channels} needs ${formatBytes(needed)}: ${RECREATE}`
  }
  const neededByMedia = needed + MEDIA_BASE_BYTES
  if (mediaBytes < neededByMedia) {
    const mebibytes = Math.ceil(neededByMedia / (1 << 20))
    return `EYRIE_MEDIA_MEMORY permits media ${formatBytes(mediaBytes)}, and EYRIE_CHANNELS=${channels} needs ${formatBytes(neededByMedia)}: set EYRIE_MEDIA_MEMORY=${mebibytes}m or more in .env`
  }
  return undefined
}

const configuration = z.looseObject({
  pipelines: z.array(z.looseObject({ sources: z.array(z.number()) })),
})

/**
 * Returns the number of channels in the configuration of the engine, of which a pipeline has one
 * for each of its sources. Returns 0 before the first start, and for a damaged configuration,
 * which the engine reports.
 */
export function countConfiguredChannels(data: string): number {
  const file = join(data, 'engine/configuration.json')
  if (!existsSync(file)) return 0
  const parsed = configuration.safeParse(tryParseJson(readFileSync(file, 'utf8')))
  const pipelines = parsed.data?.pipelines ?? []
  return pipelines.reduce((sum, { sources }) => sum + sources.length, 0)
}

/** Returns the size of a file system in bytes. */
export function measureFileSystem(folder: string): number {
  const { blocks, bsize } = statfsSync(folder)
  return blocks * bsize
}

/**
 * Parses a size as Compose writes it, such as `512m` or `2g`. Throws an `Error` that names the
 * variable.
 */
export function parseSize(variable: string, text: string): number {
  const [, number, unit = ''] = /^(\d+)([bkmg]?)b?$/i.exec(text) ?? []
  if (number === undefined) {
    throw new Error(`${variable} is not valid: expected a size such as 512m or 2g, not ${text}`)
  }
  return Number(number) * UNITS[unit.toLowerCase()]!
}
