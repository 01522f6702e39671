import { randomUUID } from 'node:crypto'
import { ENGINE_STATUS, managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { unreachableEngine } from '../../../test/fixtures/management/channel-records.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../test/fixtures/management/shared-management.ts'
import { engine, engineState, source } from '../db/schema/index.ts'
import { running, simulateAlerts } from './simulated-alerts.fixture.ts'

const { placement: routes, systemAlert: alertRoutes } = managementRoutes

const management = sharedManagement()
const records = sharedRecords(management)
const simulated = simulateAlerts(management, records)

/** The engine that joins. */
const idleEngineId = randomUUID()

/** Sets what management knows about an engine with four cores. `used` is its load in cores. */
function setEngine(
  engineId: string,
  { used, status = ENGINE_STATUS.online }: { used: number; status?: number },
) {
  const condition = {
    time: new Date(simulated.nowMs).toISOString(),
    capacity: { cores: 4, used },
    sources: [],
  }
  const state = {
    engine_status: status,
    condition: { condition, requestedMs: 0, receivedMs: 0 },
  }
  return management.database.system('test', tx =>
    tx
      .insert(engineState)
      .values({ engine_id: engineId, ...state })
      .onConflictDoUpdate({ target: engineState.engine_id, set: state }),
  )
}

/** Lets management choose the engine of the source, which needs one core. */
async function placeAutomatically(sourceId: string) {
  await management.call(routes.updateSource, {
    source_id: sourceId,
    source_placement: 'automatic',
  })
  await management.database.system('test', tx =>
    tx.update(source).set({ source_cores: 1 }).where(eq(source.source_id, sourceId)),
  )
}

const pass = (seconds: number) => simulated.report(running, seconds)

/** Returns the alerts that contain an offer, the newest first. */
async function listOffers() {
  const { response: alerts } = await management.call(alertRoutes.list, {})
  return alerts.filter(alert => alert.system_alert_kind === 'engines_unbalanced')
}

const listOfferStates = async () =>
  (await listOffers()).map(({ system_alert_state }) => system_alert_state)

const readPlan = async () => (await management.call(routes.plan)).response

describe('offer of a better distribution', () => {
  it('is made when an engine joins, and withdrawn when it is accepted or of no use', async () => {
    const { source_id: sourceId, engine_id: busyEngineId } = records
    await setEngine(busyEngineId, { used: 3 })
    await placeAutomatically(sourceId)
    await pass(150)
    expect(await listOffers()).toEqual([])

    await management.database.system('test', tx =>
      tx
        .insert(engine)
        .values({ ...unreachableEngine, engine_id: idleEngineId, engine_name: 'Hall 2' }),
    )
    await setEngine(idleEngineId, { used: 0 })
    await pass(150)
    const [alert] = await listOffers()
    expect(alert).toMatchObject({
      system_alert_state: 'open',
      system_alert_message: expect.stringMatching(
        /^moving source from engine to Hall 2 would .* page Engines/,
      ),
    })
    expect(simulated.alarms()).toEqual([
      'system alerts are open: engines unbalanced (1): what to do is in the messages about them, and in the guide "System alerts"',
    ])

    const { system_alert_id } = alert!
    expect((await readPlan()).offer).toMatchObject({ system_alert_id, acknowledged_at: null })
    await management.call(alertRoutes.acknowledge, { system_alert_id })
    await pass(10)
    expect(simulated.alarms()).toEqual([])

    // The engine disconnects.
    await setEngine(idleEngineId, { used: 0, status: ENGINE_STATUS.offline })
    await pass(70)
    expect(await listOfferStates()).toEqual(['closed'])
    expect((await readPlan()).offer).toBeNull()

    // It connects again, and the offer is accepted.
    await setEngine(idleEngineId, { used: 0 })
    await pass(150)
    expect(await listOfferStates()).toEqual(['open', 'closed'])
    await management.call(routes.apply, {
      moves: [{ source_id: sourceId, from_engine_id: busyEngineId, to_engine_id: idleEngineId }],
    })
    expect(await readPlan()).toMatchObject({ moves: [], offer: null })
    await pass(150)
    expect(await listOfferStates()).toEqual(['closed', 'closed'])
  })
})
