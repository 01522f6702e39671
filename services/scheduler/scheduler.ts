import {
  createEgress,
  createErrorHandler,
  type Dependencies,
  readSettings,
  type Service,
} from '@eyrie/kit'
import { handleUnmatchedRequests } from '@eyrie/kit/mount-routes'
import { serveMetrics } from '@eyrie/kit/prometheus-metrics'
import { Hono } from 'hono'
import { createDispatcher } from './delivery/dispatcher.ts'
import { createJobs } from './jobs/jobs.ts'
import { createFeedClient } from './management-client/feed-client.ts'
import { createManagementClient } from './management-client/management-client.ts'
import { waitForManagement } from './management-client/wait-for-management.ts'
import { createMqttBridge, type MqttBridgeStatus } from './mqtt/mqtt-bridge.ts'
import { addStatusMetrics, createSchedulerMetrics } from './scheduler-metrics.ts'
import { createScheduleRunner } from './schedules/schedule-runner.ts'
import { createSenders } from './senders/senders.ts'

/**
 * Creates the scheduler, which delivers notifications, arms alerts by their schedules, publishes
 * the live feed by MQTT, and starts jobs. It stores nothing: management stores the deliveries and
 * the armed states. A message that is being sent when the scheduler ends is sent again after the
 * restart, with the same id.
 */
export function createScheduler({ environment, log }: Dependencies): Service {
  const { urls, schedulerToken, data } = environment
  if (!schedulerToken) {
    throw new Error(
      'set EYRIE_SCHEDULER_TOKEN to the same secret for the scheduler and for management',
    )
  }
  const settings = readSettings(data).scheduler
  const management = createManagementClient(urls.management, schedulerToken)

  const metrics = createSchedulerMetrics()
  const schedules = createScheduleRunner({ management, now: Date.now, log })
  const dispatcher = createDispatcher({
    management,
    senders: createSenders(environment, {
      publicUrl: settings.public_url,
      maxSmsSegments: settings.sms_max_segments,
    }),
    timeoutMs: settings.timeout_s * 1000,
    log,
    onOutcome: ({ type }, outcome) => metrics.countOutcome(type, outcome),
  })
  const feed = createFeedClient(urls.management, schedulerToken, management)
  const mqtt = createMqttBridge({
    management: feed,
    egress: createEgress('broker', environment),
    log,
  })
  const jobs = createJobs({
    settings: settings.jobs,
    plan: management.planJobs,
    request: management.runJob,
    onJobs: metrics.updateJobs,
    log,
  })

  addStatusMetrics(metrics.registry, dispatcher.countPausedTargets, mqtt.status)

  const app = new Hono()
  app.onError(createErrorHandler(log))
  app.get('/metrics', serveMetrics(metrics.registry))
  handleUnmatchedRequests(app)

  const stopping = new AbortController()
  let starting: Promise<void> | undefined

  /** Starts the work when management answers, so that no request fails only because it starts. */
  async function startWork(): Promise<void> {
    await waitForManagement(management, { signal: stopping.signal, log })
    if (stopping.signal.aborted) return
    dispatcher.start()
    schedules.start()
    mqtt.start()
    jobs.start()
  }

  return {
    app,
    async start() {
      // Not awaited: the health can be read before management answers.
      starting = startWork()
    },
    async stop() {
      stopping.abort()
      await starting
      await Promise.all([dispatcher.stop(), schedules.stop(), mqtt.stop(), jobs.stop()])
    },
    health() {
      const alarms = [
        ...listDeliveryAlarms(dispatcher.countPausedTargets()),
        ...listMqttAlarms(mqtt.status()),
      ]
      return { ok: true, alarms, management: dispatcher.isConnected() }
    },
  }
}

/** Returns an alarm if receivers do not accept messages. */
function listDeliveryAlarms(pausedTargets: number): string[] {
  if (pausedTargets === 0) return []
  return [
    `messages to ${pausedTargets} of the receivers fail: read the reasons with /api/v1/delivery/list, ` +
      'and correct the receivers in the alerts or the settings of the scheduler',
  ]
}

/** Returns an alarm if the connection to the MQTT broker has failed. */
function listMqttAlarms({
  isEnabled,
  isConnected,
  reason,
  droppedEvents,
}: MqttBridgeStatus): string[] {
  if (!isEnabled || isConnected || reason === '') return []
  const dropped = droppedEvents > 0 ? `, and ${droppedEvents} events were dropped` : ''
  return [
    `the MQTT broker is unreachable (${reason})${dropped}: ` +
      'check that the broker is running and that the settings in /api/v1/config/mqtt are correct',
  ]
}
