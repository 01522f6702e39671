import { once } from 'node:events'
import { createServer } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { managementRoutes } from '@eyrie/contract/management/index'
import { readTlsIdentity, trustCertificate } from '@eyrie/kit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeCertificate } from '../../../../test/fixtures/certificate.ts'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/fleet.ts'
import { freePort } from '../../../../test/fixtures/free-ports.ts'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'

const LONG_MS = 400_000
const { engine: engines } = managementRoutes

/** Takes every connection, counts it and ends it. */
async function serveRefusals(): Promise<{ port: number; calls(): number }> {
  let calls = 0
  const server = createServer(socket => {
    calls += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as { port: number }).port, calls: () => calls }
}

test(
  'engines are as they are reached: refused, silent, with a wrong token, without a license, online',
  async () => {
    const fleet = await startFleet()
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const silentPort = (silent.address() as { port: number }).port
    const guarded = await startManagedEngine({ variables: { EYRIE_ENGINE_TOKENS: 'right' } })
    const unlicensed = await startManagedEngine({ variables: { EYRIE_LICENSE: 'none' } })

    const refused = await fleet.register({ engine_port: await freePort() })
    const mute = await fleet.register({ engine_port: silentPort, engine_timeout: '300ms' })
    const stranger = await fleet.register({ engine_port: guarded.port, engine_key: 'wrong' })
    const known = await fleet.register({ engine_port: guarded.port, engine_key: 'right' })
    const inactive = await fleet.register({ engine_port: unlicensed.port })

    await fleet.until(refused, 2)
    await fleet.until(mute, 2)
    await fleet.until(stranger, 3)
    await fleet.until(known, 1)
    await fleet.until(inactive, 3)
    expect(await fleet.status(refused)).toMatchObject({
      engine_reason: expect.stringContaining('ECONNREFUSED'),
    })
    expect(await fleet.status(stranger)).toMatchObject({ engine_reason: expect.stringContaining('token') })
    expect(await fleet.status(inactive)).toMatchObject({
      engine_reason: expect.stringContaining('license'),
      engine_is_active: false,
    })

    const shown = (await fleet.call(engines.status, { engine_id: known })).response
    expect(JSON.stringify(shown)).not.toContain('right')
    expect(shown).toMatchObject({
      engine_is_active: true,
      engine_api_version: 'v3',
      engine_version: expect.stringMatching(/^\d/),
      engine_host_name: expect.stringMatching(/./),
      engine_routes: { '/api/v3/sources': ['get', 'post'] },
      engine_hash: expect.stringMatching(/^[\da-f]{64}$/),
    })

    // What is corrected is tried at once.
    const { engine_status: _, ...record } = shown
    await fleet.send(engines.update, { ...record, engine_id: stranger, engine_key: 'right' })
    await fleet.until(stranger, 1)
    await unlicensed.api.activate({
      version: 1,
      customer: 'community',
      subscription: 'community',
      pool: 'community',
    })
    await fleet.until(inactive, 1)
  },
  LONG_MS,
)

test(
  'after so many attempts an engine is left alone until its record changes',
  async () => {
    const fleet = await startFleet()
    const limited = await serveRefusals()
    const unlimited = await serveRefusals()
    const retry = { disable_backoff: true, wait_base: 100 }
    const engine_id = await fleet.register({
      engine_port: limited.port,
      engine_retry: { ...retry, times: 3 },
    })
    await vi.waitUntil(() => limited.calls() === 3)
    await fleet.until(engine_id, 2)
    // Another one shows that there was time for more.
    await fleet.register({ engine_port: unlimited.port, engine_retry: { ...retry, times: 0 } })
    await vi.waitUntil(() => unlimited.calls() > 9)
    expect(limited.calls()).toBe(3)
    const { response } = await fleet.call(engines.status, { engine_id })
    await fleet.send(engines.update, { ...response, engine_timeout: '4s' })
    await vi.waitUntil(() => limited.calls() === 6)
  },
  LONG_MS,
)

test(
  "the history of an engine's load is kept, and is shown oldest first",
  async () => {
    const fleet = await startFleet()
    const { port } = await startManagedEngine()
    const engine_id = await fleet.register({ engine_port: port })
    const stats = await vi.waitFor(async () => {
      const { response } = await fleet.call(engines.stats, { engine_id })
      expect(response.engine_stats.length).toBeGreaterThan(2)
      return response
    })
    const times = stats.engine_stats.map(({ time }) => time)
    expect(times).toEqual(times.toSorted())
    expect(stats).toMatchObject({ engine_id, engine_uptime: expect.any(Number) })
    expect(stats.engine_stats[0]).toMatchObject({ cpu: expect.any(Number), mem_physical: expect.any(Number) })
    const { response } = await fleet.call(engines.list, { site_ids: [fleet.site_id] })
    expect(response).toMatchObject([{ engine_id, engine_is_statistics: true, site_id: fleet.site_id }])
  },
  LONG_MS,
)

test(
  'a certificate that nobody trusts is an error, and one that is trusted is none',
  async () => {
    const fleet = await startFleet()
    const files = makeCertificate(temporaryFolder())
    const { port } = await startManagedEngine({
      variables: { EYRIE_TLS_CERT: files.cert, EYRIE_TLS_KEY: files.key },
    })
    const plain = await fleet.register({ engine_port: port })
    const secure = await fleet.register({ engine_port: port, engine_is_secure: true })
    await fleet.until(secure, 3)
    expect(await fleet.status(secure)).toMatchObject({ engine_reason: expect.stringMatching(/certificate/) })

    const before = getCACertificates('default')
    onTestFinished(() => setDefaultCACertificates(before))
    trustCertificate(readTlsIdentity(files.cert, files.key)!)
    await fleet.until(secure, 1)
    expect((await fleet.status(plain)).engine_status).not.toBe(1)
  },
  LONG_MS,
)
