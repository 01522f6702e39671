/**
 * The messages between the engine and a sandboxed process, as bytes on a socket: the length of the body in bytes (4 bytes,
 * little-endian), the kind (1 byte), and the body as JSON. The receiver checks length and kind before it parses anything.
 */

/** The kinds of messages. The engine sends requests, a process the others. `infer` is a call that runs a model. */
export const MESSAGE_KIND = { request: 0, answer: 1, log: 2, call: 3, infer: 4 } as const
export type MessageKind = (typeof MESSAGE_KIND)[keyof typeof MESSAGE_KIND]

/** A message from a process, as far as its kind depends on it. */
interface KindSource {
  type: string
  call?: { method: string }
}

/** Returns the kind in which a process sends a message. */
export function findKind({ type, call }: KindSource): MessageKind {
  if (type === 'call') return call?.method === 'infer' ? MESSAGE_KIND.infer : MESSAGE_KIND.call
  return type === 'log' ? MESSAGE_KIND.log : MESSAGE_KIND.answer
}

const HEADER_BYTES = 5
const LENGTH_BYTES = 4

/** Encodes a message. Throws an `Error` if it cannot be encoded as JSON. */
export function encodeMessage(kind: MessageKind, message: unknown): Buffer {
  const text = JSON.stringify(message)
  const bodyBytes = Buffer.byteLength(text)
  const encoded = Buffer.allocUnsafe(HEADER_BYTES + bodyBytes)
  encoded.writeUInt32LE(bodyBytes)
  encoded[LENGTH_BYTES] = kind
  encoded.write(text, HEADER_BYTES)
  return encoded
}

/** Maximum length of a body in bytes, by the kinds of messages that are accepted. */
export type MessageLimits = ReadonlyMap<number, number>

/** Splits the bytes of a socket into messages. */
export class MessageDecoder {
  readonly #limits: MessageLimits
  /** What has been received of the next message. It is joined only when enough of it has arrived. */
  #chunks: Buffer[] = []
  #receivedBytes = 0
  /** Bytes up to the end of the header, or of the message if its header is known. */
  #expectedBytes = HEADER_BYTES

  constructor(limits: MessageLimits) {
    this.#limits = limits
  }

  /** Returns the messages that `bytes` complete. Throws an `Error` if a message is of another kind or too long. */
  *decode(bytes: Buffer): Generator<{ kind: MessageKind; body: Buffer }> {
    this.#append(bytes)
    while (this.#receivedBytes >= this.#expectedBytes) {
      const received = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
      this.#chunks = [received]
      const kind = received[LENGTH_BYTES]!
      const end = HEADER_BYTES + this.#checkHeader(kind, received.readUInt32LE())
      this.#expectedBytes = end
      if (received.length < end) return

      this.#chunks = []
      this.#receivedBytes = 0
      this.#expectedBytes = HEADER_BYTES
      this.#append(received.subarray(end))
      yield { kind: kind as MessageKind, body: received.subarray(HEADER_BYTES, end) }
    }
  }

  #append(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#chunks.push(bytes)
    this.#receivedBytes += bytes.length
  }

  /** Returns the length of the body if it is accepted. */
  #checkHeader(kind: number, bodyBytes: number): number {
    const limit = this.#limits.get(kind)
    if (limit === undefined) throw new Error(`it sends messages of the unknown kind ${kind}`)
    if (bodyBytes > limit) throw new Error(`it sends a message of ${bodyBytes} bytes, more than ${limit}`)
    return bodyBytes
  }
}
