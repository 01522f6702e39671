import type { Counters, EventData } from '@eyrie/contract/object'
import type { OutputMessage } from '@eyrie/contract/output'
import { type ReadonlySignal, signal } from '@preact/signals'
import { followOutput } from '../api/output.ts'
import { createLateness, type Lateness } from './player/metadata-delay.ts'
import { createMetadataBuffer, type MetadataBuffer } from '../video/metadata-buffer.ts'

export interface ChannelEvent extends EventData {
  seq: number
  time: string
}

/** What the page knows of a channel from its output, as long as it looks at it. */
export interface Session {
  readonly metadata: MetadataBuffer
  readonly lateness: Lateness
  readonly counters: ReadonlySignal<Counters>
  /** The newest first. */
  readonly events: ReadonlySignal<readonly ChannelEvent[]>
  readonly objects: ReadonlySignal<number>
  /** Why the output is not there at the moment. */
  readonly lost: ReadonlySignal<string | undefined>
  onMetadata(listener: () => void): () => void
  close(): void
}

const EVENTS_KEPT = 100

export function openSession(channel: number): Session {
  const metadata = createMetadataBuffer()
  const lateness = createLateness()
  const counters = signal<Counters>({})
  const events = signal<readonly ChannelEvent[]>([])
  const objects = signal(0)
  const lost = signal<string>()
  const listeners = new Set<() => void>()

  function receive(message: OutputMessage) {
    if (message.kind === 'frame') receiveFrame(message)
    if (message.kind === 'event') {
      const event = { ...message.data, seq: message.seq, time: message.time }
      events.value = [event, ...events.value].slice(0, EVENTS_KEPT)
    }
  }

  function receiveFrame({ pts, epoch, data }: OutputMessage & { kind: 'frame' }) {
    if (pts === null || epoch === null) return
    metadata.add({ ...data, pts, epoch })
    lateness.metadataArrived(pts, performance.now())
    objects.value = data.objects.length
    // A new object every frame would draw the panels anew every frame.
    if (JSON.stringify(data.counters) !== JSON.stringify(counters.value)) counters.value = data.counters
    for (const listener of listeners) listener()
  }

  const output = followOutput({
    channel,
    onMessage: receive,
    onReset: () => {
      events.value = []
    },
    onConnected: () => {
      lost.value = undefined
    },
    onLost: reason => {
      lost.value = reason
    },
  })

  return {
    metadata,
    lateness,
    counters,
    events,
    objects,
    lost,
    onMetadata(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: output.close,
  }
}
