import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { findFreePort } from './ports.ts'

describe('findFreePort', () => {
  it('names the variable to set if a port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      await expect(
        findFreePort({ host: '127.0.0.1', port, variable: 'EYRIE_MEDIA_PORT' }),
      ).rejects.toThrow(
        `port ${port} is already in use: stop the process that uses it, or set EYRIE_MEDIA_PORT to another port`,
      )
    } finally {
      server.close()
    }
  })

  it('returns a free port for 0 and does not occupy it', async () => {
    const port = await findFreePort({ host: '127.0.0.1', port: 0, variable: 'EYRIE_MEDIA_PORT' })
    expect(port).toBeGreaterThan(0)
    expect(await findFreePort({ host: '127.0.0.1', port, variable: 'EYRIE_MEDIA_PORT' })).toBe(port)
  })

  it('rejects an address that the machine does not have', async () => {
    await expect(
      findFreePort({ host: '192.0.2.1', port: 0, variable: 'EYRIE_MEDIA_PORT' }),
    ).rejects.toThrow('no address 192.0.2.1: correct EYRIE_MEDIA_HOST or EYRIE_HOST')
  })
})
