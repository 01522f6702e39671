import type { Shape } from '@eyrie/contract/exports'
import type { RecordedFrame } from '@eyrie/contract/recording'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { signal } from '@preact/signals'
import { createMetadataBuffer, type MetadataBuffer } from '../../video/metadata-buffer.ts'

/** What channels had found in the pictures of a playback, by its times. Only one of them is drawn at a time. */
export interface RecordedMetadata extends Pick<MetadataBuffer, 'find'> {
  /** Those that have found something, in the order of their ids. */
  readonly channels: ReturnType<typeof signal<readonly number[]>>
  /** Which one is drawn; undefined: the first. */
  choose(channel: number | undefined): void
  add(frame: RecordedFrame, epoch: number): void
  /** Lines and zones as they were at these ticks. */
  shapesAt(ticks: number): readonly Shape[]
  clear(): void
}

/** Longer than pictures are kept. */
const KEPT_TICKS = 600 * TICKS_PER_SECOND

interface ChannelMetadata {
  frames: MetadataBuffer
  shapes: { ticks: number; shapes: readonly Shape[] }[]
}

export function createRecordedMetadata(): RecordedMetadata {
  const channels = signal<readonly number[]>([])
  let known = new Map<number, ChannelMetadata>()
  let chosen: number | undefined

  const current = () => known.get(chosen ?? Number.NaN) ?? known.get(channels.value?.[0] ?? Number.NaN)

  function of(channel: number): ChannelMetadata {
    const found = known.get(channel)
    if (found) return found
    const made = { frames: createMetadataBuffer(KEPT_TICKS), shapes: [] }
    known.set(channel, made)
    channels.value = [...new Set([...(channels.value ?? []), channel])].sort((a, b) => a - b)
    return made
  }

  return {
    channels,
    choose(channel) {
      chosen = channel
    },
    add({ channel, at, objects, counters, shapes }, epoch) {
      const ticks = Math.round(at * TICKS_PER_SECOND)
      const { frames, shapes: told } = of(channel)
      frames.add({ objects, counters, pts: ticks, epoch })
      if (shapes) told.push({ ticks, shapes })
    },
    find: (epoch, pts) => current()?.frames.find(epoch, pts),
    shapesAt(ticks) {
      const told = current()?.shapes ?? []
      return (told.findLast(each => each.ticks <= ticks) ?? told[0])?.shapes ?? []
    },
    clear() {
      known = new Map()
    },
  }
}
