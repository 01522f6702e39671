import { createEgress, createErrorHandler, type Dependencies, readSettings, type Service } from '@eyrie/kit'
import { handleUnmatchedRequests } from '@eyrie/kit/mount-routes'
import { serveMetrics } from '@eyrie/kit/prometheus-metrics'
import { Hono } from 'hono'
import { createDispatcher } from './delivery/dispatcher.ts'
import { createJobs } from './jobs/jobs.ts'
import { createFeedClient } from './management-client/feed-client.ts'
import { createManagementClient } from './management-client/management-client.ts'
import { createMqttBridge, type MqttBridgeStatus } from './mqtt/mqtt-bridge.ts'
import { createSchedulerMetrics } from './scheduler-metrics.ts'
import { createScheduleRunner } from './schedules/schedule-runner.ts'
import { createSenders } from './senders/senders.ts'

/**
 * The scheduler delivers notifications, arms alerts by their schedules, publishes the live feed by MQTT, and starts jobs. It is a
 * client of management, which stores the deliveries and the armed states, and keeps nothing itself: what it was sending when it
 * ended is sent again, with the same id.
 */
export function createScheduler({ environment, log }: Dependencies): Service {
  const { urls, schedulerToken, data } = environment
  if (!schedulerToken)
    throw new Error('set EYRIE_SCHEDULER_TOKEN to the same secret for the scheduler and for management')
  const { public_url, timeout_s, sms_max_segments, jobs: jobSettings } = readSettings(data).scheduler
  const management = createManagementClient(urls.management, schedulerToken)

  const schedules = createScheduleRunner({ management, now: Date.now, log })
  const dispatcher = createDispatcher({
    management,
    senders: createSenders(environment, { publicUrl: public_url, maxSmsSegments: sms_max_segments }),
    timeoutMs: timeout_s * 1000,
    log,
    onOutcome: ({ type }, outcome) => metrics.countOutcome(type, outcome),
  })
  const mqtt = createMqttBridge({
    management: createFeedClient(urls.management, schedulerToken, management),
    egress: createEgress('broker', environment),
    log,
  })
  const metrics = createSchedulerMetrics(dispatcher.countDownTargets, mqtt.status)
  const jobs = createJobs({
    settings: jobSettings,
    plan: management.planJobs,
    request: management.runJob,
    onJobs: metrics.updateJobs,
    log,
  })

  const app = new Hono()
  app.onError(createErrorHandler(log))
  app.get('/metrics', serveMetrics(metrics.registry))
  handleUnmatchedRequests(app)

  return {
    app,
    async start() {
      dispatcher.start()
      schedules.start()
      mqtt.start()
      jobs.start()
    },
    async stop() {
      await Promise.all([dispatcher.stop(), schedules.stop(), mqtt.stop(), jobs.stop()])
    },
    health() {
      const down = dispatcher.countDownTargets()
      const alarm = `messages to ${down} of the receivers fail: read why with /api/v1/delivery/list, and correct the alerts or the settings`
      const alarms = [...(down > 0 ? [alarm] : []), ...listMqttAlarms(mqtt.status())]
      return { ok: true, alarms, management: dispatcher.isConnected() }
    },
  }
}

/** Says what has to be done about the connection to the MQTT broker. */
function listMqttAlarms({ isEnabled, isConnected, reason, droppedEvents }: MqttBridgeStatus): string[] {
  if (!isEnabled || isConnected || reason === '') return []
  const dropped = droppedEvents > 0 ? ` (${droppedEvents} events were dropped)` : ''
  return [
    `the MQTT broker is unreachable: ${reason}${dropped}: check it, and the settings in /api/v1/config/mqtt`,
  ]
}
