import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/fleet.ts'
import { provision, source } from '../../db/schema/index.ts'
import { createIngest } from '../../events/ingest/ingest.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { createFleet } from '../fleet.ts'

const LONG_MS = 400_000

test(
  'a management that is started again makes nothing twice, not even what it had not heard was made',
  async () => {
    const fleet = await startFleet()
    const { api, port } = await startManagedEngine()
    const engine_id = await fleet.register({ engine_port: port })
    const { source_id } = await fleet.addSource(engine_id, {
      address: 'cam.test',
      password: 'p',
      username: 'u',
    })
    const pipeline_id = await fleet.addPipeline(engine_id, [{ name: 'object-tracking' }])
    const channel_id = await fleet.addChannel(source_id, pipeline_id)
    const before = await fleet.untilThere(channel_id)
    const configuration = await api.getConfiguration()

    await fleet.fleet.stop()
    const { database, data } = fleet
    await database.system('test', async tx => {
      // As after a crash between the engine's answer and the commit.
      await tx.update(provision).set({ sid: null }).where(eq(provision.record_id, source_id))
      await tx.update(source).set({ source_sid: null }).where(eq(source.source_id, source_id))
    })
    const log = createLog('management', 'error')
    const again = createFleet({
      secrets: loadSecrets(data),
      createIngest: opened => createIngest({ database: opened, log }),
      log,
      timing: { sampleMs: 200 },
    })
    onTestFinished(() => again.stop())
    again.start(database)
    await vi.waitFor(() =>
      expect(again.seen(engine_id)).toMatchObject({ checked_at: expect.any(Date), drift: [] }),
    )
    expect(await api.getConfiguration()).toEqual(configuration)
    expect(await fleet.untilThere(channel_id)).toEqual(before)
  },
  LONG_MS,
)
