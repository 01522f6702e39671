import type { Shape } from '@eyrie/contract/exports'
import type { RecordedFrame } from '@eyrie/contract/recording'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { type ReadonlySignal, signal } from '@preact/signals'
import { createMetadataBuffer, type MetadataBuffer } from '../../video/metadata-buffer.ts'

/**
 * The recorded analysis results of a stream: the objects and counters of each frame, and the lines
 * and zones. Several channels may have analysed the stream; one of them is shown. Times are in
 * ticks of 90 kHz since the start of the loaded recording.
 */
export interface RecordedMetadata extends Pick<MetadataBuffer, 'find'> {
  /** Ids of the channels that have metadata, in ascending order. */
  readonly channels: ReadonlySignal<readonly number[]>
  /** Selects the channel to show. The default is the first one. */
  selectChannel(channel: number): void
  /**
   * Adds the results of a frame, unless it is not later than the last one of its channel. `epoch`
   * is the number of the load, because ticks of different loads are not comparable.
   */
  add(frame: RecordedFrame, epoch: number): void
  /**
   * Returns the lines and zones that were configured at a time, or the first known ones for an
   * earlier time.
   */
  getShapes(ticks: number): readonly Shape[]
  /**
   * Removes all metadata. The channels can still be selected, because the next load
   * usually has the same.
   */
  clear(): void
}

/** Metadata is kept longer than frames, so that it covers every loaded frame. */
const RETENTION_TICKS = 600 * TICKS_PER_SECOND

const NO_SHAPES: readonly Shape[] = []

interface ChannelMetadata {
  frames: MetadataBuffer
  /** The lines and zones from a time on, in order of time. */
  shapeChanges: { ticks: number; shapes: readonly Shape[] }[]
  lastTicks: number
}

export function createRecordedMetadata(): RecordedMetadata {
  const channels = signal<readonly number[]>([])
  const byChannel = new Map<number, ChannelMetadata>()
  let selected: number | undefined

  /**
   * Returns the metadata of the selected channel. If that channel has none, returns that of the
   * first channel with metadata.
   */
  function getShown(): ChannelMetadata | undefined {
    const candidates = selected === undefined ? channels.value : [selected, ...channels.value]
    const shown = candidates.find(channel => byChannel.has(channel))
    return shown === undefined ? undefined : byChannel.get(shown)
  }

  function openChannel(channel: number): ChannelMetadata {
    const existing = byChannel.get(channel)
    if (existing) return existing
    const opened: ChannelMetadata = {
      frames: createMetadataBuffer(RETENTION_TICKS),
      shapeChanges: [],
      lastTicks: Number.NEGATIVE_INFINITY,
    }
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
      const opened = openChannel(channel)
      if (ticks <= opened.lastTicks) return
      opened.lastTicks = ticks
      opened.frames.add({ objects, counters, pts: ticks, epoch })
      if (!shapes) return

      const { shapeChanges } = opened
      shapeChanges.push({ ticks, shapes })
      const minTicks = ticks - RETENTION_TICKS
      // The last one before that time is in force at that time.
      shapeChanges.splice(
        0,
        shapeChanges.findLastIndex(change => change.ticks <= minTicks),
      )
    },
    find: time => getShown()?.frames.find(time),
    getShapes(ticks) {
      const changes = getShown()?.shapeChanges ?? []
      const current = changes.findLast(change => change.ticks <= ticks) ?? changes[0]
      return current?.shapes ?? NO_SHAPES
    },
    clear: () => byChannel.clear(),
  }
}
