/** What was counted, and when, in epoch ms. */
export interface Counted {
  value: number
  at: number
}

export interface CounterRow extends Counted {
  name: string
  key: string
}

/** What a channel's counters were when it was last heard of, by the name of their line or zone. */
export class ChannelCounters {
  readonly #counted = new Map<string, Map<string, Counted>>()
  readonly #changed = new Set<string>()
  #isCleared = false

  constructor(rows: readonly CounterRow[] = []) {
    for (const { name, key, value, at } of rows) this.#put(name, key, { value, at })
  }

  get(name: string, key: string): Counted | undefined {
    return this.#counted.get(key)?.get(name)
  }

  set(name: string, key: string, counted: Counted): void {
    this.#put(name, key, counted)
    this.#changed.add(JSON.stringify([name, key]))
  }

  /** Whether the channel counts this at all. */
  counts(key: string): boolean {
    return this.#counted.has(key)
  }

  /** Over all lines or zones; undefined where none counts this. */
  total(key: string): number | undefined {
    const named = this.#counted.get(key)
    return named && [...named.values()].reduce((sum, { value }) => sum + value, 0)
  }

  /** The channel begins anew. */
  clear(): void {
    this.#counted.clear()
    this.#changed.clear()
    this.#isCleared = true
  }

  /** What is to be stored: whether what was there before goes, and what has been counted since. */
  changes(): { cleared: boolean; rows: CounterRow[] } {
    const rows = [...this.#changed].map(text => {
      const [name, key] = JSON.parse(text) as [string, string]
      return { name, key, ...this.get(name, key)! }
    })
    return { cleared: this.#isCleared, rows }
  }

  #put(name: string, key: string, counted: Counted): void {
    const named = this.#counted.get(key) ?? new Map<string, Counted>()
    this.#counted.set(key, named.set(name, counted))
  }
}
