import { createErrorHandler, type Dependencies, readSettings, type Service } from '@eyrie/kit'
import { handleUnmatchedRequests } from '@eyrie/kit/mount-routes'
import { serveMetrics } from '@eyrie/kit/prometheus-metrics'
import { Hono } from 'hono'
import { createDispatcher } from './delivery/dispatcher.ts'
import { createManagementClient } from './management-client/management-client.ts'
import { createSchedulerMetrics } from './scheduler-metrics.ts'
import { createSenders } from './senders/senders.ts'

/**
 * The scheduler delivers notifications. It is a client of management, which stores the deliveries, and keeps nothing itself:
 * what it was sending when it ended is sent again, with the same id.
 */
export function createScheduler({ environment, log }: Dependencies): Service {
  const { urls, schedulerToken, data } = environment
  if (!schedulerToken)
    throw new Error('set EYRIE_SCHEDULER_TOKEN to the same secret for the scheduler and for management')
  const { public_url, timeout_s } = readSettings(data).scheduler

  const dispatcher = createDispatcher({
    management: createManagementClient(urls.management, schedulerToken),
    senders: createSenders(environment, public_url),
    timeoutMs: timeout_s * 1000,
    log,
    onOutcome: ({ type }, outcome) => metrics.countOutcome(type, outcome),
  })
  const metrics = createSchedulerMetrics(dispatcher.countDownTargets)

  const app = new Hono()
  app.onError(createErrorHandler(log))
  app.get('/metrics', serveMetrics(metrics.registry))
  handleUnmatchedRequests(app)

  return {
    app,
    async start() {
      dispatcher.start()
    },
    stop: dispatcher.stop,
    health() {
      const down = dispatcher.countDownTargets()
      const alarm = `messages to ${down} of the receivers fail: read why with /api/v1/delivery/list, and correct the alerts or the settings`
      return { ok: true, alarms: down > 0 ? [alarm] : [], management: dispatcher.isConnected() }
    },
  }
}
