import type { Shape } from '@eyrie/contract/exports'
import type { Counters } from '@eyrie/contract/object'
import type { RecordedEvent } from '@eyrie/contract/recording'
import { type ReadonlySignal, signal } from '@preact/signals'
import { createOverlay } from '../../video/overlay.ts'
import { createPlayback, type Playback } from './playback.ts'
import { nearest, nextRecorded, type Recorded } from './recorded-ranges.ts'
import { createRecordedMetadata, type RecordedMetadata } from './recorded-metadata.ts'

/** A recording with what was found in it, as it is looked at. */
export interface Viewing {
  readonly playback: Playback
  readonly channels: RecordedMetadata['channels']
  /** As they were at the picture that is shown. */
  readonly counters: ReadonlySignal<Counters>
  readonly shapes: ReadonlySignal<readonly Shape[]>
  toggle(): void
  /** Shows what was recorded at a time, or near it. */
  to(timeMs: number): void
  /** So many seconds on, or back; over holes. */
  skip(seconds: number): void
  /** The next event, or the one before. */
  toEvent(way: 1 | -1): void
  show(event: RecordedEvent): void
  chooseChannel(channel: number): void
  close(): void
}

export interface ViewingOptions {
  stream: number
  video: HTMLVideoElement
  picture: HTMLCanvasElement
  boxes: HTMLCanvasElement
  recorded(): readonly Recorded[]
  events(): readonly RecordedEvent[]
}

/** An event is no neighbour of itself, however its time was rounded. */
const APART_MS = 100

export function createViewing(options: ViewingOptions): Viewing {
  const { stream, video, picture, boxes, recorded, events } = options
  const metadata = createRecordedMetadata()
  const counters = signal<Counters>({})
  const shapes = signal<readonly Shape[]>([])
  let shown = { epoch: 0, pts: 0 }

  const overlay = createOverlay({ picture, boxes, metadata, shapes: () => shapes.value })

  function tell() {
    const now = metadata.shapesAt(shown.pts)
    if (now !== shapes.value) shapes.value = now
    const counted = metadata.find(shown.epoch, shown.pts)?.metadata.counters ?? {}
    if (JSON.stringify(counted) !== JSON.stringify(counters.value)) counters.value = counted
  }

  const playback = createPlayback({
    video,
    stream,
    metadata,
    onFrame(image, moment) {
      shown = moment
      tell()
      overlay.show(image, moment)
    },
    onMetadata() {
      tell()
      overlay.metadataArrived()
    },
    nextRecorded: afterMs => nextRecorded(recorded(), afterMs),
  })

  function to(timeMs: number, back = false) {
    const meant = nearest(recorded(), timeMs, back)
    if (meant !== undefined) playback.seek(meant)
  }

  const viewing: Viewing = {
    playback,
    channels: metadata.channels,
    counters,
    shapes,
    toggle() {
      if (playback.playing.value) playback.pause()
      else playback.play()
    },
    to,
    skip(seconds) {
      const here = playback.position.value
      if (here !== undefined) to(here + seconds * 1000, seconds < 0)
    },
    toEvent(way) {
      const here = playback.position.value ?? 0
      const isBeyond = ({ time }: RecordedEvent) => (Date.parse(time) - here) * way > APART_MS
      const event = way > 0 ? events().find(isBeyond) : events().findLast(isBeyond)
      if (event) viewing.show(event)
    },
    show: ({ time }) => playback.seek(Date.parse(time), 'nearest'),
    chooseChannel(channel) {
      metadata.choose(channel)
      tell()
      overlay.metadataArrived()
    },
    close() {
      playback.close()
      overlay.close()
    },
  }
  return viewing
}
