import { parseInternalSourceAddress, parseSourceAddress } from '@eyrie/contract/zmq-messages'
import { type Egress, pinEndpoint } from '@eyrie/kit'
import { getInternalEndpoint } from '@eyrie/kit/paths'
import { Subscriber } from 'zeromq'
import type { SourceIdentity } from '../../sources/source.ts'

/** Receives the messages of a sender over ZeroMQ. */
export interface MessageReceiver {
  /** Prefix of the topics that are received. */
  readonly topic: string
  /**
   * Connects to the sender, or binds the socket. Throws an `Error` whose message continues a
   * sentence about the address ("cannot be bound: …").
   */
  open(signal: AbortSignal): Promise<void>
  /** Returns the parts of each message, until the receiver is closed. */
  messages(): AsyncIterable<Uint8Array[]>
  close(): void
}

export interface MessageReceiverOptions {
  identity: Pick<SourceIdentity, 'type' | 'address'>
  /** Folder with the sockets of internal addresses, which connect pipelines on this appliance. */
  ringFolder: string
  /** Decides to which senders the receiver connects. */
  egress: Egress
}

const MAX_QUEUED_MESSAGES = 32
const MAX_MESSAGE_BYTES = 64 << 20

export function createMessageReceiver(options: MessageReceiverOptions): MessageReceiver {
  const { endpoint, bind, topic } = resolveEndpoint(options)
  const socket = new Subscriber({
    receiveHighWaterMark: MAX_QUEUED_MESSAGES,
    maxMessageSize: MAX_MESSAGE_BYTES,
    reconnectInterval: 100,
    reconnectMaxInterval: 2000,
    linger: 0,
  })

  return {
    topic,

    async open(signal) {
      socket.subscribe(topic)
      try {
        if (bind) await socket.bind(endpoint)
        else socket.connect(await pinEndpoint(options.egress, endpoint, signal))
      } catch (cause) {
        const problem = bind ? 'cannot be bound' : 'cannot be connected'
        throw new Error(`${problem}: ${(cause as Error).message}`, { cause })
      }
    },

    messages: () => socket,
    close: () => socket.close(),
  }
}

/** What a socket connects to or binds, and the topic to subscribe to. */
interface Subscription {
  /** Endpoint of ZeroMQ, such as `tcp://host:5555`. */
  endpoint: string
  bind: boolean
  topic: string
}

function resolveEndpoint({ identity, ringFolder }: MessageReceiverOptions): Subscription {
  const { url } = identity.address
  if (identity.type === 'zmqinternal') {
    const { endpoint, query } = parseInternalSourceAddress(url)
    return { endpoint: getInternalEndpoint(ringFolder, endpoint), bind: false, topic: query.topic }
  }
  const { endpoint, query } = parseSourceAddress(url)
  return { endpoint, ...query }
}
