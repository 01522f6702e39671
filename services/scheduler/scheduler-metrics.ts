import type { Job } from '@eyrie/contract/management/job'
import { addGauge } from '@eyrie/kit/prometheus-metrics'
import { Counter, Gauge, Registry } from 'prom-client'
import type { MqttBridgeStatus } from './mqtt/mqtt-bridge.ts'
import type { Outcome } from './senders/sender.ts'

/**
 * Metrics of the scheduler for Prometheus. They contain no addresses, so reading
 * them requires no token.
 */
export interface SchedulerMetrics {
  registry: Registry
  countOutcome(type: string, outcome: Outcome): void
  /**
   * Counts the runs that have ended since the last call, including runs that the
   * scheduler has not started.
   */
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
    countOutcome: (type, { state }) => attempts.inc({ type, result: state }),
    updateJobs: createJobMetrics(registry),
  }
}

/**
 * Adds the metrics whose values the dispatcher and the MQTT bridge return whenever
 * Prometheus reads them.
 */
export function addStatusMetrics(
  registry: Registry,
  countPausedTargets: () => number,
  getMqttStatus: () => MqttBridgeStatus,
): void {
  addGauge(registry, {
    name: 'eyrie_scheduler_targets_down',
    help: 'Targets to which deliveries are paused because they do not accept messages.',
    read: countPausedTargets,
  })
  addGauge(registry, {
    name: 'eyrie_scheduler_mqtt_connected',
    help: 'Whether the MQTT broker is connected: 1 or 0.',
    read: () => (getMqttStatus().isConnected ? 1 : 0),
  })
  addGauge(registry, {
    name: 'eyrie_scheduler_mqtt_dropped_events',
    help: 'Events that were not published by MQTT, because the broker was unreachable for too long.',
    read: () => getMqttStatus().droppedEvents,
  })
}

/** Adds the metrics of the jobs. Returns the function that updates them. */
function createJobMetrics(registry: Registry): SchedulerMetrics['updateJobs'] {
  const registers = [registry]
  const runs = new Counter({
    name: 'eyrie_scheduler_job_runs_total',
    help: 'Runs of jobs, by result.',
    labelNames: ['job', 'result'],
    registers,
  })
  const durations = new Gauge({
    name: 'eyrie_scheduler_job_duration_seconds',
    help: 'Duration of the last run of a job.',
    labelNames: ['job'],
    registers,
  })
  const successes = new Gauge({
    name: 'eyrie_scheduler_job_last_success_seconds',
    help: 'When a job succeeded last, in Unix time.',
    labelNames: ['job'],
    registers,
  })
  /** Id of the last ended run of each job. Undefined until the jobs are first read. */
  let endedRuns: Map<string, string> | undefined

  return jobs => {
    // Runs that ended before the start of this process were counted by the previous process.
    const isFirstUpdate = endedRuns === undefined
    endedRuns ??= new Map()

    for (const { job_name: job, run_id, job_state, duration_ms, succeeded_at } of jobs) {
      if (succeeded_at !== null) successes.set({ job }, Date.parse(succeeded_at) / 1000)
      // Only a run that has ended has a duration.
      if (run_id === null || job_state === null || duration_ms === null) continue

      durations.set({ job }, duration_ms / 1000)
      const isNewRun = endedRuns.get(job) !== run_id
      if (isNewRun && !isFirstUpdate) runs.inc({ job, result: job_state })
      endedRuns.set(job, run_id)
    }
  }
}
