import { randomUUID } from 'node:crypto'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../test/fixtures/management/fleet.ts'
import { localEngineEgress } from '../../../test/fixtures/network/local-egress.ts'
import { provision, source } from '../db/schema/index.ts'
import { createIngest } from '../events/ingest/ingest.ts'
import { createLeases } from '../leases/leases.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { createFleet } from './fleet.ts'

const LONG_MS = 400_000

describe('management restart', () => {
  it(
    'creates nothing twice, not even objects whose creation was not confirmed before a crash',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: port })
      const { source_id: sourceId } = await fleet.addSource(engineId, {
        address: 'cam.test',
        password: 'p',
        username: 'u',
      })
      const pipelineId = await fleet.addPipeline(engineId, [{ name: 'object-tracking' }])
      const channelId = await fleet.addChannel(sourceId, pipelineId)
      const before = await fleet.untilVerified(channelId)
      const configuration = await api.getConfiguration()

      await fleet.fleet.stop()
      const stoppedAt = new Date()
      const { database, data } = fleet
      await database.system('test', async tx => {
        // The state after a crash between the engine's response and the commit.
        await tx.update(provision).set({ sid: null }).where(eq(provision.record_id, sourceId))
        await tx.update(source).set({ source_sid: null }).where(eq(source.source_id, sourceId))
      })
      const log = createLog('management', 'error')
      const restarted = createFleet({
        onCondition: () => {},
        leases: createLeases({ instance_id: randomUUID(), host_name: 'restarted', log }),
        secrets: loadSecrets(data),
        egress: localEngineEgress,
        createIngest: connected => createIngest({ database: connected, log }),
        log,
        timing: { sampleMs: 200 },
      })
      onTestFinished(() => restarted.stop())
      restarted.start(database)
      await vi.waitFor(async () => {
        const { checked_at: checkedAt, drift } = await restarted.readDriftReport(database, engineId)
        expect(checkedAt!.getTime()).toBeGreaterThan(stoppedAt.getTime())
        expect(drift).toEqual([])
      })
      expect(await api.getConfiguration()).toEqual(configuration)
      expect(await fleet.untilVerified(channelId)).toEqual(before)
    },
    LONG_MS,
  )
})
