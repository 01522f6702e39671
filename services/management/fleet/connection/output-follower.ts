import type { Client } from '@eyrie/client'
import { durableKinds, EyrieError } from '@eyrie/contract'
import type { ReceivedMessage } from '../../events/ingest/ingest-port.ts'
import type { Pause } from './pause.ts'

/** The name under which engines know what management has taken. */
const CONSUMER = 'management'
/** Messages of one transaction at most; as many again may wait. */
const MOST = 500
/** Engines keep acknowledgements once a second: more of them would only have to be read. */
const ACKNOWLEDGE_MS = 1000

export interface Following {
  engine: Client
  /** How far the output has been followed; undefined: the engine knows. */
  position: { log_id: string; seq: number } | undefined
  /** Called at the beginning, before any message is taken. */
  onHello(log_id: string): Promise<void>
  /** Takes messages in their order; resolves to the last number that is not needed again. */
  take(messages: ReceivedMessage[]): Promise<number>
}

/** Follows what an engine's channels find, for as long as the connection lasts. Rejects with what has ended it. */
export async function follow({ engine, position, onHello, take }: Following): Promise<never> {
  const over = Promise.withResolvers<never>()
  let since = position && position.seq + 1
  for (;;) {
    const restart = await Promise.race([over.promise, connection()])
    if (!restart) throw new Error('the output has ended')
    since = 1
  }

  /** True: the log is another one, and is to be followed from its beginning. */
  async function connection(): Promise<boolean> {
    let tell: (seq: number) => void = () => {}
    let taken = 0
    let telling: NodeJS.Timeout | undefined
    const acknowledge = (seq: number) => {
      taken = seq
      telling ??= setTimeout(() => {
        telling = undefined
        tell(taken)
      }, ACKNOWLEDGE_MS)
    }
    let waiting: ReceivedMessage[] = []
    let taking: Promise<void> | undefined
    const takeAll = async () => {
      while (waiting.length > 0) {
        const batch = waiting
        waiting = []
        acknowledge(await take(batch))
      }
      taking = undefined
    }
    const output = engine.output({
      consumer: CONSUMER,
      kinds: [...durableKinds],
      since,
      onDisconnect: over.reject,
      onAcknowledgeReady: send => {
        tell = send
      },
    })
    try {
      for await (const message of output) {
        if (message.kind === 'hello') {
          if (since !== 1 && position && message.log_id !== position.log_id) return true
          await onHello(message.log_id)
        }
        waiting.push(message)
        taking ??= takeAll()
        taking.catch(over.reject)
        if (waiting.length >= MOST) await taking
      }
      return false
    } finally {
      clearTimeout(telling)
    }
  }
}

/** Has an engine that is managed no longer keep nothing for us. What cannot be done is left to its log's own bounds. */
export async function unfollow(engine: Client, pause: Pause): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await engine.consumer.remove(CONSUMER)
    } catch (error) {
      // It may not have noticed yet that we are gone.
      if (!(error instanceof EyrieError) || error.code !== 'reference') return
      await pause.wait(500)
    }
  }
}
