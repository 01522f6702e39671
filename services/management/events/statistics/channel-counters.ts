export interface CounterValue {
  value: number
  /** Time of the count, epoch ms. */
  timeMs: number
}

export interface CounterRow extends CounterValue {
  /** Name of the line or zone. */
  name: string
  key: string
}

/** The latest counters of a channel, by the name of their line or zone. Tracks changes, which are stored with each batch. */
export class ChannelCounters {
  /** By key, then by name. */
  readonly #values = new Map<string, Map<string, CounterValue>>()
  /** `[name, key]` as JSON. */
  readonly #changed = new Set<string>()
  #isCleared = false

  constructor(rows: readonly CounterRow[] = []) {
    for (const { name, key, value, timeMs } of rows) this.#put(name, key, { value, timeMs })
  }

  get(name: string, key: string): CounterValue | undefined {
    return this.#values.get(key)?.get(name)
  }

  set(name: string, key: string, value: CounterValue): void {
    this.#put(name, key, value)
    this.#changed.add(JSON.stringify([name, key]))
  }

  /** Whether any line or zone counts this key. */
  has(key: string): boolean {
    return this.#values.has(key)
  }

  /** The sum over all lines and zones; undefined if none of them counts this key. */
  total(key: string): number | undefined {
    const values = this.#values.get(key)
    if (!values) return undefined
    let sum = 0
    for (const { value } of values.values()) sum += value
    return sum
  }

  /** Called when the channel restarts, which resets its counters. */
  clear(): void {
    this.#values.clear()
    this.#changed.clear()
    this.#isCleared = true
  }

  /** Returns whether the stored rows must be deleted, and the rows to store. */
  changes(): { isCleared: boolean; rows: CounterRow[] } {
    const rows = [...this.#changed].map(text => {
      const [name, key] = JSON.parse(text) as [string, string]
      return { name, key, ...this.get(name, key)! }
    })
    return { isCleared: this.#isCleared, rows }
  }

  #put(name: string, key: string, value: CounterValue): void {
    const values = this.#values.get(key) ?? new Map<string, CounterValue>()
    this.#values.set(key, values.set(name, value))
  }
}
