import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { managementRoutes } from '@eyrie/contract/management/index'
import { readTlsIdentity, trustCertificate } from '@eyrie/kit'
import { and, eq, gt, sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/management/fleet.ts'
import { createCertificate } from '../../../../test/fixtures/network/certificate.ts'
import { findFreePort } from '../../../../test/fixtures/network/free-ports.ts'
import { startTcpServer } from '../../../../test/fixtures/network/tcp-server.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { lease } from '../../db/schema/index.ts'

const LONG_MS = 400_000
const HOUR_MS = 3_600_000
const { engine: engines } = managementRoutes

describe('engine link', () => {
  it(
    'reports refused, silent, unauthorized, unlicensed and online engines',
    async () => {
      const fleet = await startFleet()
      const silent = await startTcpServer()
      const guarded = await startManagedEngine({ variables: { EYRIE_ENGINE_TOKENS: 'right' } })
      const unlicensed = await startManagedEngine({ variables: { EYRIE_LICENSE: 'none' } })

      const refused = await fleet.registerEngine({ engine_port: await findFreePort() })
      const timedOut = await fleet.registerEngine({
        engine_port: silent.port,
        engine_timeout: '300ms',
      })
      const unauthorized = await fleet.registerEngine({
        engine_port: guarded.port,
        engine_key: 'wrong',
      })
      const withoutKey = await fleet.registerEngine({ engine_port: guarded.port })
      const online = await fleet.registerEngine({ engine_port: guarded.port, engine_key: 'right' })
      const inactive = await fleet.registerEngine({ engine_port: unlicensed.port })

      await fleet.untilStatus(refused, 2)
      await fleet.untilStatus(timedOut, 2)
      await fleet.untilStatus(unauthorized, 3)
      await fleet.untilStatus(withoutKey, 3)
      await fleet.untilStatus(online, 1)
      await fleet.untilStatus(inactive, 3)
      expect(await fleet.getEngineStatus(refused)).toMatchObject({
        engine_reason: expect.stringContaining('ECONNREFUSED'),
      })
      expect(await fleet.getEngineStatus(unauthorized)).toMatchObject({
        engine_reason: expect.stringMatching(
          /^the engine rejects the engine_key that is stored for it: set engine_key .*secrets\/engine-token/,
        ),
      })
      expect(await fleet.getEngineStatus(withoutKey)).toMatchObject({
        engine_reason: expect.stringMatching(
          /^the engine requires a token, and no engine_key is stored for it: /,
        ),
      })
      expect(await fleet.getEngineStatus(inactive)).toMatchObject({
        engine_reason: expect.stringContaining('license'),
        engine_is_active: false,
      })

      // The hash is stored by the first reconciliation, a moment after the status.
      const shown = await vi.waitFor(async () => {
        const { response } = await fleet.call(engines.status, { engine_id: online })
        expect(response.engine_hash).not.toBe('')
        return response
      })
      expect(JSON.stringify(shown)).not.toContain('right')
      expect(shown).toMatchObject({
        engine_is_active: true,
        engine_api_version: 'v3',
        engine_version: expect.stringMatching(/^\d/),
        engine_host_name: expect.stringMatching(/./),
        engine_routes: { '/api/v3/sources': ['get', 'post'] },
        engine_hash: expect.stringMatching(/^[\da-f]{64}$/),
      })

      // A corrected record takes effect at once.
      const { engine_status: _, ...record } = shown
      await fleet.send(engines.update, { ...record, engine_id: unauthorized, engine_key: 'right' })
      await fleet.untilStatus(unauthorized, 1)
      await unlicensed.api.activate({
        version: 1,
        customer: 'community',
        subscription: 'community',
        pool: 'community',
      })
      await fleet.untilStatus(inactive, 1)
    },
    LONG_MS,
  )

  it(
    'stops after the configured number of attempts until the record changes',
    async () => {
      const fleet = await startFleet()
      const limited = await startTcpServer(socket => socket.destroy())
      const unlimited = await startTcpServer(socket => socket.destroy())
      const retry = { disable_backoff: true, wait_base: 100 }
      const engineId = await fleet.registerEngine({
        engine_port: limited.port,
        engine_retry: { ...retry, times: 3 },
      })
      await vi.waitUntil(() => limited.connections.length === 3)
      await fleet.untilStatus(engineId, 2)
      // The attempts to an engine without a limit prove that there was time for more attempts.
      await fleet.registerEngine({
        engine_port: unlimited.port,
        engine_retry: { ...retry, times: 0 },
      })
      await vi.waitUntil(() => unlimited.connections.length > 9)
      expect(limited.connections).toHaveLength(3)
      const { response } = await fleet.call(engines.status, { engine_id: engineId })
      await fleet.send(engines.update, { ...response, engine_timeout: '4s' })
      await vi.waitUntil(() => limited.connections.length === 6)
    },
    LONG_MS,
  )

  it(
    'connects to an engine as soon as it listens again, despite a delay of an hour, and reports the outage meanwhile',
    async () => {
      const { fleet, ...management } = await startFleet({
        timing: { sampleMs: 200, outageGraceMs: 0 },
      })
      const port = await findFreePort()
      const variables = { EYRIE_ENGINE_PORT: String(port) }
      const { data, kill } = await startManagedEngine({ variables })
      const engineId = await management.registerEngine({
        engine_name: 'Yard',
        engine_port: port,
        engine_retry: { disable_backoff: true, times: 0, wait_base: HOUR_MS },
      })
      await management.untilStatus(engineId, 1)
      expect(fleet.listOutages()).toEqual([])

      await kill()
      await vi.waitFor(() =>
        expect(fleet.listOutages()).toMatchObject([
          { engine_id: engineId, engine_name: 'Yard', status: 'offline' },
        ]),
      )
      await management.untilStatus(engineId, 2)
      await startManagedEngine({ data, variables })
      await management.untilStatus(engineId, 1)
      expect(fleet.listOutages()).toEqual([])
    },
    LONG_MS,
  )

  it(
    'records the load history of an engine and returns it oldest first',
    async () => {
      const fleet = await startFleet()
      const { port } = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: port })
      const stats = await vi.waitFor(async () => {
        const { response } = await fleet.call(engines.stats, { engine_id: engineId })
        expect(response.engine_stats.length).toBeGreaterThan(2)
        return response
      })
      const times = stats.engine_stats.map(({ time }) => time)
      expect(times).toEqual(times.toSorted())
      expect(stats).toMatchObject({ engine_id: engineId, engine_uptime: expect.any(Number) })
      expect(stats.engine_stats[0]).toMatchObject({
        cpu: expect.any(Number),
        mem_physical: expect.any(Number),
      })
      const { response } = await fleet.call(engines.list, { site_ids: [fleet.site_id] })
      expect(response).toMatchObject([
        { engine_id: engineId, engine_is_statistics: true, site_id: fleet.site_id },
      ])
    },
    LONG_MS,
  )

  it(
    'reports an untrusted certificate as an error and accepts a trusted one',
    async () => {
      const fleet = await startFleet()
      const files = createCertificate(createTemporaryFolder())
      const { port } = await startManagedEngine({
        variables: { EYRIE_TLS_CERT: files.cert, EYRIE_TLS_KEY: files.key },
      })
      const plain = await fleet.registerEngine({ engine_port: port })
      const secure = await fleet.registerEngine({ engine_port: port, engine_is_secure: true })
      await fleet.untilStatus(secure, 3)
      expect(await fleet.getEngineStatus(secure)).toMatchObject({
        engine_reason: expect.stringMatching(/certificate/),
      })

      const before = getCACertificates('default')
      onTestFinished(() => setDefaultCACertificates(before))
      trustCertificate(readTlsIdentity(files.cert, files.key)!.cert)
      await fleet.untilStatus(secure, 1)
      expect((await fleet.getEngineStatus(plain)).engine_status).not.toBe(1)
    },
    LONG_MS,
  )

  it(
    'records that the output is stored up to now while the engine is connected',
    async () => {
      const fleet = await startFleet()
      const { port, kill } = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: port })
      const isStoredUpToNow = () =>
        fleet.database.system('test', async tx => {
          const isRecent = gt(lease.stored_until, sql`clock_timestamp() - interval '2 seconds'`)
          const rows = await tx
            .select()
            .from(lease)
            .where(and(eq(lease.subject, engineId), isRecent))
          return rows.length > 0
        })
      await vi.waitUntil(isStoredUpToNow)
      await kill()
      await fleet.untilStatus(engineId, 2)
      await vi.waitUntil(async () => !(await isStoredUpToNow()))
    },
    LONG_MS,
  )
})
