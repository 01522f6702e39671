import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { createCertificate } from '../../test/fixtures/network/certificate.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { listen } from './listen.ts'
import { readTlsIdentity, trustCertificate } from './tls.ts'

it('a process that trusts the shared certificate reaches the other services', async () => {
  const { cert, key } = createCertificate(createTemporaryFolder())
  const tls = readTlsIdentity(cert, key)!
  const server = await listen({ app: new Hono(), health: () => ({ ok: true }) }, '127.0.0.1', 0, { tls })
  const url = `https://127.0.0.1:${server.port}/health`
  await expect(fetch(url)).rejects.toThrow()
  trustCertificate(tls)
  expect((await fetch(url)).status).toBe(200)
  await server.close()
})
