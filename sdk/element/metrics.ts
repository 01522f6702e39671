/** Maximum number of metrics of an element on one channel. */
export const MAX_METRICS = 32

/** Names of metrics, a part of the names that Prometheus allows. */
export const METRIC_NAME = /^[a-z][a-z0-9_]{0,63}$/

/**
 * Measurements for operators, such as the age of a calibration. The engine serves them to
 * Prometheus with the channel and the element as labels. What viewers see belongs in
 * counters and events.
 */
export interface ElementMetrics {
  /** Sets the present value of a metric, which is served as `eyrie_engine_element_value`. */
  set(name: string, value: number): void
  /**
   * Adds to the total of a metric, which is served as `eyrie_engine_element_total`.
   * Totals never decrease.
   */
  add(name: string, amount?: number): void
}

/** The metrics of an element on one channel, by name. */
export interface MetricValues {
  values: Record<string, number>
  totals: Record<string, number>
}

/**
 * Creates the metrics of one element. `collect` returns all of them if any has changed since the
 * last call, otherwise undefined.
 */
export function createElementMetrics(): {
  metrics: ElementMetrics
  collect(): MetricValues | undefined
} {
  const values: Record<string, number> = {}
  const totals: Record<string, number> = {}
  let hasChanged = false

  /**
   * Throws an `Error` if a value cannot be recorded. `recorded` are the metrics of
   * the same kind, by name.
   */
  function assertRecordable(name: string, value: number, recorded: Record<string, number>): void {
    if (!METRIC_NAME.test(name)) {
      throw new Error(
        `the metric ${name} should have a name of lower-case letters, digits and underscores`,
      )
    }
    if (!Number.isFinite(value)) {
      throw new Error(`the value ${value} of the metric ${name} is not a number`)
    }
    const isNew = !Object.hasOwn(recorded, name)
    const count = Object.keys(values).length + Object.keys(totals).length
    if (isNew && count >= MAX_METRICS) {
      throw new Error(`the element has more than ${MAX_METRICS} metrics`)
    }
  }

  return {
    metrics: {
      set(name, value) {
        assertRecordable(name, value, values)
        hasChanged ||= values[name] !== value
        values[name] = value
      },
      add(name, amount = 1) {
        assertRecordable(name, amount, totals)
        if (amount < 0) throw new Error(`the total of the metric ${name} would decrease`)
        hasChanged ||= amount > 0
        totals[name] = (totals[name] ?? 0) + amount
      },
    },
    collect() {
      if (!hasChanged) return undefined
      hasChanged = false
      return { values: { ...values }, totals: { ...totals } }
    },
  }
}
