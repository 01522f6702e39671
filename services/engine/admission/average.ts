/** A mean that follows changes: of all values while there are few, then of about the last `FOLLOWED`. */
export interface Average {
  mean: number
  /** How many values it is made of, up to `FOLLOWED`. */
  count: number
}

const FOLLOWED = 200

export function extended(before: Average | undefined, value: number): Average {
  const { mean, count } = before ?? { mean: 0, count: 0 }
  const next = Math.min(count + 1, FOLLOWED)
  return { mean: mean + (value - mean) / next, count: next }
}
