/** Maximum number of metrics of an element on one channel. */
export const MAX_METRICS = 32

/** Names of metrics. They are valid in Prometheus, which allows further characters. */
export const METRIC_NAME = /^[a-z][a-z0-9_]{0,63}$/

/**
 * Measurements for operators, such as the age of a calibration. The engine serves them to
 * Prometheus with the labels `channel`, `element` and `metric`. Results for viewers belong in
 * counters and events instead.
 *
 * Both functions throw an `Error` if the name is not valid, the number or the total is not finite,
 * or the element has more than 32 metrics.
 */
export interface ElementMetrics {
  /** Sets the current value of a metric. Prometheus receives it as `eyrie_engine_element_value`. */
  set(name: string, value: number): void
  /**
   * Adds an amount, by default 1, to the total of a metric. The amount must not be negative.
   * Prometheus receives the total as `eyrie_engine_element_total`.
   */
  add(name: string, amount?: number): void
}

/** The metrics of an element on one channel: values that were set and totals, by name. */
export interface MetricValues {
  values: Record<string, number>
  totals: Record<string, number>
}

/**
 * Creates the metrics of one element on one channel, and the function with which the channel
 * collects them. `collect` returns all metrics if one of them has changed since the last call,
 * otherwise undefined.
 */
export function createElementMetrics(): {
  metrics: ElementMetrics
  collect(): MetricValues | undefined
} {
  const values: Record<string, number> = {}
  const totals: Record<string, number> = {}
  let hasChanged = false

  /** Throws an `Error` if a number cannot be stored in `target`, which is `values` or `totals`. */
  function assertStorable(name: string, value: number, target: Record<string, number>): void {
    if (!METRIC_NAME.test(name)) {
      throw new Error(
        `the metric ${name} should have a name of lower-case letters, digits and underscores`,
      )
    }
    if (!Number.isFinite(value)) {
      throw new Error(`the value ${value} of the metric ${name} is not a number`)
    }
    const isNew = !Object.hasOwn(target, name)
    const count = Object.keys(values).length + Object.keys(totals).length
    if (isNew && count >= MAX_METRICS) {
      throw new Error(`the element has more than ${MAX_METRICS} metrics`)
    }
  }

  return {
    metrics: {
      set(name, value) {
        assertStorable(name, value, values)
        hasChanged ||= values[name] !== value
        values[name] = value
      },
      add(name, amount = 1) {
        assertStorable(name, amount, totals)
        if (amount < 0) throw new Error(`the total of the metric ${name} would decrease`)
        const total = (totals[name] ?? 0) + amount
        if (!Number.isFinite(total)) throw new Error(`the total of the metric ${name} is too large`)
        hasChanged ||= amount > 0
        totals[name] = total
      },
    },
    collect() {
      if (!hasChanged) return undefined
      hasChanged = false
      return { values: { ...values }, totals: { ...totals } }
    },
  }
}
