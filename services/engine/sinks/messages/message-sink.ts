import type { ViewSpec } from '@eyrie/contract/view'
import type { MessageAddress, MessageHeader } from '@eyrie/contract/zmq-messages'
import { RecentCounter } from '@eyrie/kit/recent-counter'
import type { Sink, SinkFrame, SinkRecord } from '../sink.ts'
import { MessagePublisher } from './message-publisher.ts'
import { type CopiedPicture, PictureCopies } from './picture-copies.ts'

type Query = Omit<MessageAddress<'sink'>['query'], 'bind'>

/** Publishes every record as a ZeroMQ message with its picture. Who is slow or away slows nobody. */
export class MessageSink implements Sink {
  readonly view: ViewSpec | undefined
  readonly #topic: string
  readonly #publisher: MessagePublisher
  readonly #pictures = new PictureCopies()
  readonly #sent = new Map<number, number>()
  readonly #withoutPicture = new RecentCounter()
  readonly #lost = new RecentCounter()

  constructor({ endpoint, bind, query }: { endpoint: string; bind: boolean; query: Query }) {
    this.view = viewFor(query)
    this.#topic = query.topic
    this.#publisher = new MessagePublisher({ endpoint, bind })
  }

  get failure(): string | undefined {
    if (this.#publisher.failure) return this.#publisher.failure
    if (this.#lost.recent > 0)
      return `${this.#lost.recent} messages were lost: the machine is too slow for them`
    const without = this.#withoutPicture.recent
    return without > 0
      ? `${without} messages went without their pictures, which had been overtaken`
      : undefined
  }

  write(record: SinkRecord, frame: SinkFrame): void {
    const picture = frame.ring && this.#pictures.copy(record.channel, frame.ring, record.n)
    if (frame.ring && !picture) this.#withoutPicture.add()
    const seq = (this.#sent.get(record.channel) ?? 0) + 1
    this.#sent.set(record.channel, seq)
    const header = JSON.stringify(headerOf(record, frame, picture, seq))
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

function headerOf(
  { n, pts, time, objects, events, ...rest }: SinkRecord,
  { width, height, discontinuity }: SinkFrame,
  picture: CopiedPicture | undefined,
  seq: number,
): Omit<MessageHeader, 'format' | 'objects' | 'events'> & Pick<SinkRecord, 'objects' | 'events'> {
  const { width: shownWidth = width, height: shownHeight = height, format = null } = picture ?? {}
  const shown = { width: shownWidth, height: shownHeight, format }
  return { v: 1, seq, pts, time, ...shown, objects, events, discontinuity, n, ...rest }
}

function viewFor({ payload, width, quality }: Query): ViewSpec | undefined {
  if (payload === 'none') return undefined
  const shape = { width, multiple_of: 1, letterbox: true, fill: 0 }
  return payload === 'jpeg' ? { ...shape, format: 'JPEG', quality } : { ...shape, format: 'RGB' }
}
