/**
 * An exponential moving average of a value that stays as it is between its changes: after `seconds` it has come nearer to
 * the value by the share 1 - 1/e. (Andreas Eckner, "Algorithms for Unevenly Spaced Time Series": EMA of the last value.)
 */
export function movedAverage(average: number, value: number, elapsedMs: number, seconds: number): number {
  return value + (average - value) * Math.exp(-Math.max(0, elapsedMs) / (seconds * 1000))
}
