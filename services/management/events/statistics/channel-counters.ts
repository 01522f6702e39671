/** Name of counters that belong to the whole channel rather than to one of its lines or zones. */
export const CHANNEL_WIDE = ''

/**
 * The latest count of one key on one line or zone. A key names what is counted, such as
 * `up` or `occupancy`.
 */
export interface CounterValue {
  value: number
  /** Time of the count, in epoch ms. */
  timeMs: number
}

/** A counter as it is stored in the database. */
export interface CounterRow extends CounterValue {
  /** Name of the line or zone. */
  name: string
  key: string
}

/**
 * The latest counters of a channel. Each line or zone of the channel counts one or more keys,
 * such as `up` or `occupancy`. Changes are tracked, so that only changed counters are stored
 * after a batch of messages.
 */
export class ChannelCounters {
  /** By key, then by the name of the line or zone. */
  readonly #values = new Map<string, Map<string, CounterValue>>()
  /** The `[name, key]` of each changed counter, as JSON. */
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

  /** Returns whether any line or zone counts this key. */
  has(key: string): boolean {
    const values = this.#values.get(key)
    if (!values) return false
    return values.size > (values.has(CHANNEL_WIDE) ? 1 : 0)
  }

  /** Returns the sum of all counters of this key, or undefined if there are none. */
  getTotal(key: string): number | undefined {
    const values = this.#values.get(key)
    if (!values) return undefined
    let sum = 0
    for (const { value } of values.values()) sum += value
    return sum
  }

  /** Deletes all counters. Called when the channel restarts. */
  clear(): void {
    this.#values.clear()
    this.#changed.clear()
    this.#isCleared = true
  }

  /** Returns whether all stored rows must be deleted, and the rows to store afterwards. */
  getChanges(): { isCleared: boolean; rows: CounterRow[] } {
    const rows = Array.from(this.#changed, changed => {
      const [name, key] = JSON.parse(changed) as [string, string]
      // Every changed counter has a value, because `clear` deletes the changes too.
      return { name, key, ...this.get(name, key)! }
    })
    return { isCleared: this.#isCleared, rows }
  }

  #put(name: string, key: string, value: CounterValue): void {
    const values = this.#values.get(key) ?? new Map<string, CounterValue>()
    this.#values.set(key, values.set(name, value))
  }
}
