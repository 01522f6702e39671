/** Returns the median; 0 for an empty list. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the `q`-quantile, with `q` from 0 to 1; 0 for an empty list. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const index = Math.min(Math.floor(q * sorted.length), sorted.length - 1)
  return sorted[index] ?? 0
}
