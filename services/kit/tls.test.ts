import { Hono } from 'hono'
import { expect, it, onTestFinished } from 'vitest'
import {
  createCertificate,
  createSignedCertificate,
} from '../../test/fixtures/network/certificate.ts'
import { findFreePort } from '../../test/fixtures/network/free-ports.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { listen } from './listen.ts'
import { isTlsError, readTlsIdentity, trustCertificate } from './tls.ts'

it('a process that trusts the shared certificate reaches the other services', async () => {
  const { cert, key } = createCertificate(createTemporaryFolder())
  const tls = readTlsIdentity(cert, key)!
  const server = await listen({ app: new Hono(), health: () => ({ ok: true }) }, '127.0.0.1', 0, {
    tls,
  })
  const url = `https://127.0.0.1:${server.port}/health`
  await expect(fetch(url)).rejects.toThrow()
  trustCertificate(tls.cert)
  expect((await fetch(url)).status).toBe(200)
  await server.close()
})

it.each([
  ['is self-signed', createCertificate, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['an unknown authority has signed', createSignedCertificate, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
] as const)(
  'a rejected certificate that %s is recognized as an error of TLS',
  async (_, create, code) => {
    const { cert, key } = create(createTemporaryFolder())
    const tls = readTlsIdentity(cert, key)!
    const server = await listen({ app: new Hono(), health: () => ({ ok: true }) }, '127.0.0.1', 0, {
      tls,
    })
    onTestFinished(() => server.close())
    const error = await fetch(`https://127.0.0.1:${server.port}/health`).catch(reason => reason)
    expect(error.cause).toMatchObject({ code })
    expect(isTlsError(error)).toBe(true)
  },
)

it('a refused connection is no error of TLS', async () => {
  const error = await fetch(`https://127.0.0.1:${await findFreePort()}`).catch(reason => reason)
  expect(isTlsError(error)).toBe(false)
})
