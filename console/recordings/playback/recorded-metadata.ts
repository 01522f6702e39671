import type { Shape } from '@eyrie/contract/exports'
import type { RecordedFrame } from '@eyrie/contract/recording'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { type ReadonlySignal, signal } from '@preact/signals'
import { createMetadataBuffer, type MetadataBuffer } from '../../video/metadata-buffer.ts'

/** The recorded metadata of a playback, of which one channel is shown at a time. Times are in ticks of the playback. */
export interface RecordedMetadata extends Pick<MetadataBuffer, 'find'> {
  /** Ids of the channels that have metadata, in ascending order. */
  readonly channels: ReadonlySignal<readonly number[]>
  /** Selects the channel to show. By default, the first is shown. */
  selectChannel(channel: number): void
  add(frame: RecordedFrame, epoch: number): void
  /** Returns lines and zones as they were at these ticks. */
  getShapes(ticks: number): readonly Shape[]
  clear(): void
}

/** Longer than frames are retained. */
const RETENTION_TICKS = 600 * TICKS_PER_SECOND

const NO_SHAPES: readonly Shape[] = []

interface ChannelMetadata {
  frames: MetadataBuffer
  shapeChanges: { ticks: number; shapes: readonly Shape[] }[]
}

export function createRecordedMetadata(): RecordedMetadata {
  const channels = signal<readonly number[]>([])
  const byChannel = new Map<number, ChannelMetadata>()
  let selected: number | undefined

  const getShown = () =>
    byChannel.get(selected ?? Number.NaN) ?? byChannel.get(channels.value[0] ?? Number.NaN)

  function openChannel(channel: number): ChannelMetadata {
    const existing = byChannel.get(channel)
    if (existing) return existing
    const opened = { frames: createMetadataBuffer(RETENTION_TICKS), shapeChanges: [] }
    byChannel.set(channel, opened)
    channels.value = [...new Set([...channels.value, channel])].sort((a, b) => a - b)
    return opened
  }

  return {
    channels,
    selectChannel(channel) {
      selected = channel
    },
    add({ channel, at, objects, counters, shapes }, epoch) {
      const ticks = Math.round(at * TICKS_PER_SECOND)
      const { frames, shapeChanges } = openChannel(channel)
      frames.add({ objects, counters, pts: ticks, epoch })
      if (shapes) shapeChanges.push({ ticks, shapes })
    },
    find: time => getShown()?.frames.find(time),
    getShapes(ticks) {
      const changes = getShown()?.shapeChanges ?? []
      return (changes.findLast(change => change.ticks <= ticks) ?? changes[0])?.shapes ?? NO_SHAPES
    },
    clear: () => byChannel.clear(),
  }
}
