/** A comparison of Eyrie with the bare tools, or with a bound; `value` is a ratio or a percentage, as `unit` says. */
export interface Bench {
  name: string
  limit: { atMost: number } | { atLeast: number }
  /** Empty for a ratio. */
  unit?: string
  run(): Promise<{ value: number; detail: string }>
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

export function holds({ limit }: Bench, value: number): boolean {
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast
}

export function limitText({ limit, unit = '' }: Bench): string {
  return 'atMost' in limit ? `≤ ${limit.atMost}${unit}` : `≥ ${limit.atLeast}${unit}`
}
