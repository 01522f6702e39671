const GROWTH = 4

const [SPACE, QUOTE, BACKSLASH, TILDE] = [0x20, 0x22, 0x5c, 0x7e]
/** 1 for each character that stands for itself in one byte. */
const plain = Uint8Array.from({ length: 0x100 }, (_, code) =>
  Number(code >= SPACE && code <= TILDE && code !== QUOTE && code !== BACKSLASH),
)
const [NULL, TRUE, FALSE] = [Buffer.from('null'), Buffer.from('true'), Buffer.from('false')]

/** Writes a value. Returns whether that is anything. */
export type Write = (value: unknown, json: JsonBytes) => boolean

/** JSON that is being written, in UTF-8: text would have to be put together first, measured and encoded. */
export class JsonBytes {
  #bytes: Buffer<ArrayBuffer>
  #end = 0
  #written = new Map<object, { by: Write; from: number; end: number }>()

  /** It grows where `bytes` are not enough. */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(bytes)
  }

  get length(): number {
    return this.#end
  }

  /** What is JSON already, or a part of it. */
  literal(json: Uint8Array): void {
    this.#reserve(json.length)
    this.#bytes.set(json, this.#end)
    this.#end += json.length
  }

  /** What JSON.stringify makes of a value. Returns whether that is anything. */
  value(value: unknown): boolean {
    if (typeof value === 'string') this.#string(value)
    else if (value === null) this.literal(NULL)
    else if (value === true) this.literal(TRUE)
    else if (value === false) this.literal(FALSE)
    else {
      const json = JSON.stringify(value)
      if (json === undefined) return false
      this.#text(json)
    }
    return true
  }

  /** What `write` writes of an object: copied where it has been written before. */
  once(value: object, write: Write): boolean {
    const before = this.#written.get(value)
    if (before?.by === write) {
      const length = before.end - before.from
      this.#reserve(length)
      this.#bytes.copyWithin(this.#end, before.from, before.end)
      this.#end += length
      return true
    }
    const from = this.#end
    const isAnything = write(value, this)
    this.#written.set(value, { by: write, from, end: this.#end })
    return isAnything
  }

  /** Puts brackets around all from a place on; each part of it begins with a comma. */
  enclose(from: number, brackets: Uint8Array): void {
    if (this.#end === from) this.literal(brackets)
    else {
      this.#reserve(1)
      this.#bytes[from] = brackets[0]!
      this.#bytes[this.#end] = brackets[1]!
      this.#end += 1
    }
  }

  /** Takes back all from a place on. */
  cut(from: number): void {
    this.#end = from
  }

  done(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#end)
  }

  #string(text: string): void {
    this.#reserve(text.length + 2)
    const bytes = this.#bytes
    let at = this.#end
    bytes[at++] = QUOTE
    for (let n = 0; n < text.length; n += 1) {
      const code = text.charCodeAt(n)
      if (plain[code] !== 1) {
        this.#text(JSON.stringify(text))
        return
      }
      bytes[at++] = code
    }
    bytes[at++] = QUOTE
    this.#end = at
  }

  #text(json: string): void {
    // A unit of UTF-16 takes three bytes at most.
    this.#reserve(json.length * 3)
    this.#end += this.#bytes.write(json, this.#end)
  }

  #reserve(more: number): void {
    const needed = this.#end + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * GROWTH))
    this.#bytes.copy(larger, 0, 0, this.#end)
    this.#bytes = larger
  }
}
