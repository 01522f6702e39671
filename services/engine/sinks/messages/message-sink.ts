import type { ViewSpec } from '@eyrie/contract/view'
import type { MessageAddress, MessageHeader } from '@eyrie/contract/zmq-messages'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import type { Sink, SinkFrame, SinkRecord } from '../sink.ts'
import { MessagePublisher } from './message-publisher.ts'
import { type CopiedPicture, PictureCopier } from './picture-copier.ts'

type Query = Omit<MessageAddress<'sink'>['query'], 'bind'>

/** Publishes every record as a ZeroMQ message with its picture. Slow or disconnected subscribers do not delay others. */
export class MessageSink implements Sink {
  readonly view: ViewSpec | undefined
  readonly #topic: string
  readonly #publisher: MessagePublisher
  readonly #pictures = new PictureCopier()
  readonly #lastSeq = new Map<number, number>()
  readonly #missingPictures = new RecentCounter()
  readonly #lost = new RecentCounter()

  constructor({ endpoint, bind, query }: { endpoint: string; bind: boolean; query: Query }) {
    this.view = toView(query)
    this.#topic = query.topic
    this.#publisher = new MessagePublisher({ endpoint, bind })
  }

  get failure(): string | undefined {
    if (this.#publisher.failure) return this.#publisher.failure
    if (this.#lost.recent > 0)
      return `${this.#lost.recent} messages were lost: the machine is too slow for them`
    const missing = this.#missingPictures.recent
    return missing > 0
      ? `${missing} messages were sent without their pictures, which had been overwritten`
      : undefined
  }

  write(record: SinkRecord, frame: SinkFrame): void {
    const picture = frame.ring && this.#pictures.copy(record.channel, frame.ring, record.n)
    if (frame.ring && !picture) this.#missingPictures.add()
    const seq = (this.#lastSeq.get(record.channel) ?? 0) + 1
    this.#lastSeq.set(record.channel, seq)
    const header = JSON.stringify(createHeader(record, frame, picture, seq))
    const sent = this.#publisher.send([
      `${this.#topic}${record.channel}`,
      header,
      picture?.data ?? new Uint8Array(),
    ])
    if (!sent && this.#publisher.isOpen) this.#lost.add()
  }

  async close(): Promise<void> {
    await this.#publisher.close()
    this.#pictures.close()
  }
}

function createHeader(
  { n, pts, time, objects, events, ...rest }: SinkRecord,
  { width, height, discontinuity }: SinkFrame,
  picture: CopiedPicture | undefined,
  seq: number,
): Omit<MessageHeader, 'format' | 'objects' | 'events'> & Pick<SinkRecord, 'objects' | 'events'> {
  // Without a picture, the size is that of the source.
  const size = picture ?? { width, height }
  return {
    v: 1,
    seq,
    pts,
    time,
    width: size.width,
    height: size.height,
    format: picture?.format ?? null,
    objects,
    events,
    discontinuity,
    n,
    ...rest,
  }
}

function toView({ payload, width, quality }: Query): ViewSpec | undefined {
  if (payload === 'none') return undefined
  const shape = { width, multiple_of: 1, letterbox: true, fill: 0 }
  return payload === 'jpeg' ? { ...shape, format: 'JPEG', quality } : { ...shape, format: 'RGB' }
}
