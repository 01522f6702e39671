import type { Counters, EventData } from '@eyrie/contract/object'
import type { Gap, Hello, OutputMessage } from '@eyrie/contract/output'
import { type ReadonlySignal, signal } from '@preact/signals'
import { openReconnectingSocket } from '../api/reconnecting-socket.ts'
import { createMetadataBuffer, type MetadataBuffer } from '../video/metadata-buffer.ts'
import { createMetadataDelay, type MetadataDelay } from './player/metadata-delay.ts'

export interface ChannelEvent extends EventData {
  seq: number
  time: string
}

/** The output of a channel as the live page shows it. */
export interface ChannelOutput {
  readonly metadata: MetadataBuffer
  readonly metadataDelay: MetadataDelay
  readonly counters: ReadonlySignal<Counters>
  /** The newest first. */
  readonly events: ReadonlySignal<readonly ChannelEvent[]>
  readonly objectCount: ReadonlySignal<number>
  /** Why the output is currently not received. */
  readonly connectionError: ReadonlySignal<string | undefined>
  /** Calls the listener after each frame. Returns a function that removes it. */
  onMetadata(listener: () => void): () => void
  close(): void
}

const MAX_EVENTS = 100

/** Follows the output of a channel. A new connection continues where the last one ended, so no event is missed. */
export function openChannelOutput(channel: number): ChannelOutput {
  const metadata = createMetadataBuffer()
  const metadataDelay = createMetadataDelay()
  const counters = signal<Counters>({})
  const events = signal<readonly ChannelEvent[]>([])
  const objectCount = signal(0)
  const connectionError = signal<string>()
  const listeners = new Set<() => void>()
  /** The position in the output log of the engine. */
  const position: { logId?: string; seq: number } = { seq: 0 }

  const socket = openReconnectingSocket({
    path: () => `/live/output?channels=${channel}${position.seq > 0 ? `&since=${position.seq}` : ''}`,
    onDisconnect(reason) {
      connectionError.value = reason
    },
    onMessage: data => receive(JSON.parse(data as string)),
  })

  function receive(message: OutputMessage | Hello | Gap) {
    if (message.kind === 'hello') return receiveHello(message)
    if (message.kind === 'gap' || message.seq <= position.seq) return
    position.seq = message.seq
    if (message.kind === 'frame') receiveFrame(message)
    if (message.kind === 'event') {
      const event = { ...message.data, seq: message.seq, time: message.time }
      events.value = [event, ...events.value].slice(0, MAX_EVENTS)
    }
  }

  function receiveHello({ log_id }: Hello) {
    connectionError.value = undefined
    const isNewLog = position.logId !== undefined && position.logId !== log_id
    position.logId = log_id
    if (!isNewLog) return
    position.seq = 0
    events.value = []
  }

  function receiveFrame({ pts, epoch, data }: OutputMessage & { kind: 'frame' }) {
    if (pts === null || epoch === null) return
    metadata.add({ ...data, pts, epoch })
    metadataDelay.metadataArrived(pts, performance.now())
    objectCount.value = data.objects.length
    // Assigning an equal object would render the counter cards for every frame.
    if (JSON.stringify(data.counters) !== JSON.stringify(counters.value)) counters.value = data.counters
    for (const listener of listeners) listener()
  }

  return {
    metadata,
    metadataDelay,
    counters,
    events,
    objectCount,
    connectionError,
    onMetadata(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: socket.close,
  }
}
