import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { available } from './ports.ts'

it('names the variable to set when a port is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await expect(available('127.0.0.1', port, 'EYRIE_MEDIA_PORT')).rejects.toThrow(
      `port ${port} is taken: stop what uses it, or set EYRIE_MEDIA_PORT to another port`,
    )
  } finally {
    server.close()
  }
})

it('gives a free port for 0 and leaves it free', async () => {
  const port = await available('127.0.0.1', 0, 'EYRIE_MEDIA_PORT')
  expect(port).toBeGreaterThan(0)
  expect(await available('127.0.0.1', port, 'EYRIE_MEDIA_PORT')).toBe(port)
})

it('says so when the machine does not have the address', async () => {
  await expect(available('192.0.2.1', 0, 'EYRIE_MEDIA_PORT')).rejects.toThrow(
    'no address 192.0.2.1: correct EYRIE_HOST',
  )
})
