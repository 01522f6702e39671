import type { Counters, EventData } from '@eyrie/contract/object'
import type { OutputMessage } from '@eyrie/contract/output'
import type { Gap, Hello } from '@eyrie/contract/output-connection'
import { type ReadonlySignal, signal } from '@preact/signals'
import { openReconnectingSocket } from '../api/reconnecting-socket.ts'
import { createMetadataBuffer, type MetadataBuffer } from '../video/metadata-buffer.ts'
import { createMetadataDelay, type MetadataDelay } from './player/metadata-delay.ts'

/** An event that the engine has reported, such as an object that has crossed a line. */
export interface ChannelEvent extends EventData {
  /** Position in the output log of the engine. */
  seq: number
  time: string
}

/**
 * The live analysis results of a channel, received from the engine over a WebSocket. The metadata
 * of a frame is the list of objects that were detected in it.
 */
export interface ChannelOutput {
  readonly metadata: MetadataBuffer
  readonly metadataDelay: MetadataDelay
  readonly counters: ReadonlySignal<Counters>
  /** The most recent events, newest first. */
  readonly events: ReadonlySignal<readonly ChannelEvent[]>
  /** Number of objects in the newest frame. */
  readonly objectCount: ReadonlySignal<number>
  /** Why the connection to the output is lost; undefined while it is connected. */
  readonly connectionError: ReadonlySignal<string | undefined>
  /**
   * Calls the listener after the metadata of each frame. Returns a function that
   * removes the listener.
   */
  onMetadata(listener: () => void): () => void
  close(): void
}

const MAX_EVENTS = 100

/**
 * Receives the output of a channel. A reconnect continues at the last position, so
 * that no event is missed.
 */
export function openChannelOutput(channel: number): ChannelOutput {
  const metadata = createMetadataBuffer()
  const metadataDelay = createMetadataDelay()
  const counters = signal<Counters>({})
  const events = signal<readonly ChannelEvent[]>([])
  const objectCount = signal(0)
  const connectionError = signal<string>()
  const listeners = new Set<() => void>()
  /**
   * The last message that was received. The engine numbers its messages by `seq`, their position in
   * its output log. A restarted engine begins a new log.
   */
  const position: { logId?: string; seq: number } = { seq: 0 }

  const getPath = () => {
    const path = `/live/output?channels=${channel}`
    return position.seq > 0 ? `${path}&since=${position.seq}` : path
  }

  const socket = openReconnectingSocket({
    path: getPath,
    onDisconnect(reason) {
      connectionError.value = reason
    },
    onMessage: data => receive(JSON.parse(data as string)),
  })

  function receive(message: OutputMessage | Hello | Gap) {
    if (message.kind === 'hello') return receiveHello(message)
    // A gap reports dropped messages, which cannot be recovered. A reconnect may repeat messages.
    if (message.kind === 'gap' || message.seq <= position.seq) return

    position.seq = message.seq
    if (message.kind === 'frame') receiveFrame(message)
    if (message.kind === 'event') receiveEvent(message)
  }

  /** The first message of every connection. */
  function receiveHello({ log_id: logId }: Hello) {
    connectionError.value = undefined
    const isNewLog = position.logId !== undefined && position.logId !== logId
    position.logId = logId
    if (!isNewLog) return
    position.seq = 0
    events.value = []
  }

  function receiveEvent({ data, seq, time }: OutputMessage & { kind: 'event' }) {
    events.value = [{ ...data, seq, time }, ...events.value].slice(0, MAX_EVENTS)
  }

  function receiveFrame({ pts, epoch, data }: OutputMessage & { kind: 'frame' }) {
    // Without a position in the stream, the metadata cannot be matched with a video frame.
    if (pts === null || epoch === null) return

    metadata.add({ ...data, pts, epoch })
    metadataDelay.metadataArrived(pts, performance.now())
    objectCount.value = data.objects.length
    // A new but equal object would render the counter cards for every frame.
    if (JSON.stringify(data.counters) !== JSON.stringify(counters.value)) {
      counters.value = data.counters
    }
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
