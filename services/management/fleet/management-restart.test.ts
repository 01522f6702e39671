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
      const engine_id = await fleet.registerEngine({ engine_port: port })
      const { source_id } = await fleet.addSource(engine_id, {
        address: 'cam.test',
        password: 'p',
        username: 'u',
      })
      const pipeline_id = await fleet.addPipeline(engine_id, [{ name: 'object-tracking' }])
      const channel_id = await fleet.addChannel(source_id, pipeline_id)
      const before = await fleet.untilVerified(channel_id)
      const configuration = await api.getConfiguration()

      await fleet.fleet.stop()
      const stoppedAt = new Date()
      const { database, data } = fleet
      await database.system('test', async tx => {
        // The state after a crash between the engine's response and the commit.
        await tx.update(provision).set({ sid: null }).where(eq(provision.record_id, source_id))
        await tx.update(source).set({ source_sid: null }).where(eq(source.source_id, source_id))
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
        const { checked_at, drift } = await restarted.readDriftReport(database, engine_id)
        expect(checked_at!.getTime()).toBeGreaterThan(stoppedAt.getTime())
        expect(drift).toEqual([])
      })
      expect(await api.getConfiguration()).toEqual(configuration)
      expect(await fleet.untilVerified(channel_id)).toEqual(before)
    },
    LONG_MS,
  )
})
