/**
 * The messages between the engine and a sandboxed process, as bytes on a socket: the length of the
 * body in bytes (4 bytes, little-endian), the kind (1 byte), and the body as JSON. The receiver
 * checks length and kind before it parses anything.
 */

/**
 * The kinds of messages. The engine sends requests, the process all others. `infer` is a
 * call that runs a model.
 */
export const MESSAGE_KIND = { request: 0, answer: 1, log: 2, call: 3, infer: 4 } as const
export type MessageKind = (typeof MESSAGE_KIND)[keyof typeof MESSAGE_KIND]

/** The length and the kind. */
const HEADER_BYTES = 5
/** Offset of the kind, which follows the length. */
const KIND_OFFSET = 4

/** Returns the kind of a message that a process sends. It depends only on these properties. */
export function findKind({ type, call }: { type: string; call?: { method: string } }): MessageKind {
  if (type === 'call') return call?.method === 'infer' ? MESSAGE_KIND.infer : MESSAGE_KIND.call
  return type === 'log' ? MESSAGE_KIND.log : MESSAGE_KIND.answer
}

/** Encodes a message. Throws an `Error` if it cannot be encoded as JSON. */
export function encodeMessage(kind: MessageKind, message: unknown): Buffer {
  const text = JSON.stringify(message)
  const bodyBytes = Buffer.byteLength(text)
  const encoded = Buffer.allocUnsafe(HEADER_BYTES + bodyBytes)
  encoded.writeUInt32LE(bodyBytes)
  encoded[KIND_OFFSET] = kind
  encoded.write(text, HEADER_BYTES)
  return encoded
}

/** Maximum length of the body in bytes for each accepted kind of messages. */
export type MessageLimits = ReadonlyMap<number, number>

/** Splits the bytes of a socket into messages. */
export class MessageDecoder {
  readonly #limits: MessageLimits
  /**
   * The received part of the next message. The chunks are joined only when
   * `#expectedBytes` have arrived.
   */
  #chunks: Buffer[] = []
  #receivedBytes = 0
  /** Length of the header, or of the whole message as soon as its header is known. */
  #expectedBytes = HEADER_BYTES

  constructor(limits: MessageLimits) {
    this.#limits = limits
  }

  /**
   * Returns the messages that `bytes` complete. Throws an `Error` if a message is of
   * another kind or too long.
   */
  *decode(bytes: Buffer): Generator<{ kind: MessageKind; body: Buffer }> {
    this.#append(bytes)
    while (this.#receivedBytes >= this.#expectedBytes) {
      const received = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
      const kind = received[KIND_OFFSET]!
      const bodyBytes = received.readUInt32LE()
      this.#assertAccepted(kind, bodyBytes)
      const end = HEADER_BYTES + bodyBytes
      if (received.length < end) {
        this.#chunks = [received]
        this.#expectedBytes = end
        return
      }

      this.#chunks = []
      this.#receivedBytes = 0
      this.#expectedBytes = HEADER_BYTES
      // The rest belongs to later messages.
      this.#append(received.subarray(end))
      yield { kind: kind as MessageKind, body: received.subarray(HEADER_BYTES, end) }
    }
  }

  #append(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#chunks.push(bytes)
    this.#receivedBytes += bytes.length
  }

  #assertAccepted(kind: number, bodyBytes: number): void {
    const limit = this.#limits.get(kind)
    if (limit === undefined) throw new Error(`it sends messages of the unknown kind ${kind}`)
    if (bodyBytes > limit) {
      throw new Error(`it sends a message of ${bodyBytes} bytes, more than ${limit}`)
    }
  }
}
