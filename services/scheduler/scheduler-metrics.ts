import type { Job } from '@eyrie/contract/management/job'
import { addGauge } from '@eyrie/kit/prometheus-metrics'
import { Counter, Gauge, Registry } from 'prom-client'
import type { MqttBridgeStatus } from './mqtt/mqtt-bridge.ts'
import type { Outcome } from './senders/sender.ts'

/** Metrics of the scheduler for Prometheus. They contain no addresses, so reading them requires no token. */
export interface SchedulerMetrics {
  registry: Registry
  countOutcome(type: string, outcome: Outcome): void
  /** Counts the runs that have ended since the last call, also runs that the scheduler has not started. */
  updateJobs(jobs: readonly Job[]): void
}

export function createSchedulerMetrics(): SchedulerMetrics {
  const registry = new Registry()
  const attempts = new Counter({
    name: 'eyrie_scheduler_delivery_attempts_total',
    help: 'Attempts to deliver messages, by type and result.',
    labelNames: ['type', 'result'],
    registers: [registry],
  })
  return {
    registry,
    updateJobs: createJobMetrics(registry),
    countOutcome: (type, { state }) => attempts.inc({ type, result: state }),
  }
}

/** Adds the metrics that are read from the dispatcher and from the MQTT bridge whenever Prometheus asks for them. */
export function addStatusMetrics(
  registry: Registry,
  countDownTargets: () => number,
  readMqttStatus: () => MqttBridgeStatus,
): void {
  addGauge(registry, {
    name: 'eyrie_scheduler_targets_down',
    help: 'Targets to which deliveries are paused because they do not accept messages.',
    read: countDownTargets,
  })
  addGauge(registry, {
    name: 'eyrie_scheduler_mqtt_connected',
    help: 'Whether the MQTT broker is connected: 1 or 0.',
    read: () => (readMqttStatus().isConnected ? 1 : 0),
  })
  addGauge(registry, {
    name: 'eyrie_scheduler_mqtt_dropped_events',
    help: 'Events that were not published by MQTT, because the broker was unreachable for too long.',
    read: () => readMqttStatus().droppedEvents,
  })
}

/** Returns the function that updates the metrics of the jobs. */
function createJobMetrics(registry: Registry): (jobs: readonly Job[]) => void {
  const registers = [registry]
  const labelNames = ['job']
  const runs = new Counter({
    name: 'eyrie_scheduler_job_runs_total',
    help: 'Runs of jobs, by result.',
    labelNames: ['job', 'result'],
    registers,
  })
  const durations = new Gauge({
    name: 'eyrie_scheduler_job_duration_seconds',
    help: 'Duration of the last run of a job.',
    ...{ labelNames, registers },
  })
  const successes = new Gauge({
    name: 'eyrie_scheduler_job_last_success_seconds',
    help: 'When a job succeeded last, in Unix time.',
    ...{ labelNames, registers },
  })
  const counted = new Map<string, string>()
  /** Whether the runs before the start of this process, which the previous one has counted, are known. */
  let knowsEarlier = false

  return jobs => {
    for (const { job_name, run_id, job_state, duration_ms, succeeded_at } of jobs) {
      if (succeeded_at !== null) successes.set({ job: job_name }, Date.parse(succeeded_at) / 1000)
      if (run_id === null || job_state === null || duration_ms === null) continue
      durations.set({ job: job_name }, duration_ms / 1000)
      if (counted.get(job_name) === run_id) continue
      if (knowsEarlier) runs.inc({ job: job_name, result: job_state })
      counted.set(job_name, run_id)
    }
    knowsEarlier = true
  }
}
