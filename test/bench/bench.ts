/** A comparison of Eyrie with the bare tools, or with a fixed limit. */
export interface Bench {
  name: string
  limit: { max: number } | { min: number }
  /** Printed after the value; empty for a ratio. */
  unit?: string
  /** Whether the samples count something of which there may be nothing. */
  isCount?: boolean
  /** Throws when it cannot measure. */
  run(): Promise<Measurement>
}

export interface Measurement {
  /** One value per round or per frame. Their median is compared with the limit. */
  samples: readonly number[]
  /** The load that the samples claim to be measured under. */
  loads: readonly Load[]
  detail: string
}

/** Something that must have been running, and how much of it did. */
export interface Load {
  name: string
  min: number
  actual: number
}

export type Verdict =
  | { outcome: 'ok' | 'over'; value: number }
  /** The measurement says nothing about the limit. */
  | { outcome: 'invalid'; reason: string }

export function judge(
  { limit, isCount }: Pick<Bench, 'limit' | 'isCount'>,
  { samples, loads }: Measurement,
): Verdict {
  if (samples.length === 0) return { outcome: 'invalid', reason: 'no samples' }
  // Nothing takes no time, or costs nothing: a sample of 0 comes from a division by Infinity,
  // unless it is a count.
  const broken = samples.find(sample => !Number.isFinite(sample) || (sample === 0 && !isCount))
  if (broken !== undefined) return { outcome: 'invalid', reason: `one sample is ${broken}` }
  const missed = loads.find(({ min, actual }) => !Number.isFinite(actual) || actual < min)
  if (missed) {
    const { name, min, actual } = missed
    return {
      outcome: 'invalid',
      reason: `${name}: ${actual.toFixed(2)} instead of at least ${min}`,
    }
  }
  const value = median(samples)
  const isWithinLimit = 'max' in limit ? value <= limit.max : value >= limit.min
  return { outcome: isWithinLimit ? 'ok' : 'over', value }
}

/** Throws on an empty list: a median of nothing must not pass for a measurement. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('median of no values')
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const formatLimit = ({ limit, unit = '' }: Bench): string =>
  'max' in limit ? `≤ ${limit.max}${unit}` : `≥ ${limit.min}${unit}`
