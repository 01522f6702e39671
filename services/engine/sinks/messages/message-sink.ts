import type { ViewSpec } from '@eyrie/contract/view'
import type { MessageAddress, MessageHeader } from '@eyrie/contract/zmq-messages'
import type { Egress } from '@eyrie/kit'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import type { Sink, SinkFrame, SinkRecord } from '../sink.ts'
import { MessagePublisher } from './message-publisher.ts'
import { type CopiedPicture, PictureCopier } from './picture-copier.ts'

type Query = Omit<MessageAddress<'sink'>['query'], 'bind'>

/**
 * Publishes every record (the results of one frame) as a ZeroMQ message, optionally with the
 * picture of its frame. A slow subscriber does not delay other subscribers.
 */
export class MessageSink implements Sink {
  readonly view: ViewSpec | undefined
  readonly #topic: string
  readonly #publisher: MessagePublisher
  readonly #pictures = new PictureCopier()
  /** Sequence number of the last message, by channel. Subscribers detect lost messages by gaps. */
  readonly #lastSeq = new Map<number, number>()
  readonly #missingPictures = new RecentCounter()
  readonly #lost = new RecentCounter()

  constructor(
    { endpoint, bind, query }: { endpoint: string; bind: boolean; query: Query },
    egress: Egress,
  ) {
    this.view = toView(query)
    this.#topic = query.topic
    this.#publisher = new MessagePublisher({ endpoint, bind }, egress)
  }

  get failure(): string | undefined {
    if (this.#publisher.failure) return this.#publisher.failure

    const lost = this.#lost.recent
    if (lost > 0) return `${lost} messages were lost: the machine is too slow to send them`

    const missing = this.#missingPictures.recent
    if (missing > 0) {
      return `${missing} messages were sent without their pictures: the machine is too slow to copy them in time`
    }

    return undefined
  }

  write(record: SinkRecord, frame: SinkFrame): void {
    const picture = frame.ring && this.#pictures.copy(record.channel, frame.ring, record.n)
    if (frame.ring && !picture) this.#missingPictures.add()

    const seq = (this.#lastSeq.get(record.channel) ?? 0) + 1
    this.#lastSeq.set(record.channel, seq)

    const topic = `${this.#topic}${record.channel}`
    const header = JSON.stringify(createHeader({ record, frame, picture, seq }))
    const payload = picture?.data ?? new Uint8Array()
    const isQueued = this.#publisher.send([topic, header, payload])
    if (!isQueued && this.#publisher.isOpen) this.#lost.add()
  }

  async close(): Promise<void> {
    await this.#publisher.close()
    this.#pictures.close()
  }
}

type Header = Omit<MessageHeader, 'format' | 'objects' | 'events'> &
  Pick<SinkRecord, 'objects' | 'events'>

interface HeaderContent {
  record: SinkRecord
  frame: SinkFrame
  picture: CopiedPicture | undefined
  seq: number
}

function createHeader({ record, frame, picture, seq }: HeaderContent): Header {
  const { n, pts, time, objects, events, ...otherFields } = record
  // Without a picture, the header contains the size of the source.
  const { width, height } = picture ?? frame
  return {
    v: 1,
    seq,
    pts,
    time,
    width,
    height,
    format: picture?.format ?? null,
    objects,
    events,
    discontinuity: frame.discontinuity,
    n,
    ...otherFields,
  }
}

/** Returns the size and format of the pictures that the address of the sink requests. */
function toView({ payload, width, quality }: Query): ViewSpec | undefined {
  if (payload === 'none') return undefined
  const shape = { width, multiple_of: 1, letterbox: true, fill: 0 }
  return payload === 'jpeg' ? { ...shape, format: 'JPEG', quality } : { ...shape, format: 'RGB' }
}
