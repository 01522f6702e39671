import { addGauge } from '@eyrie/kit/prometheus-metrics'
import { Counter, Registry } from 'prom-client'
import type { Outcome } from './senders/sender.ts'

/** Metrics of the scheduler for Prometheus. They contain no addresses, so reading them requires no token. */
export interface SchedulerMetrics {
  registry: Registry
  countOutcome(type: string, outcome: Outcome): void
}

export function createSchedulerMetrics(countDownTargets: () => number): SchedulerMetrics {
  const registry = new Registry()
  const attempts = new Counter({
    name: 'eyrie_scheduler_delivery_attempts_total',
    help: 'Attempts to deliver messages, by type and result.',
    labelNames: ['type', 'result'],
    registers: [registry],
  })
  addGauge(registry, {
    name: 'eyrie_scheduler_targets_down',
    help: 'Targets to which deliveries are paused because they do not accept messages.',
    read: countDownTargets,
  })
  return {
    registry,
    countOutcome: (type, { state }) => attempts.inc({ type, result: state }),
  }
}
