import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createCameras } from './cameras.ts'

it('a camera test reports the media service as unavailable if its answer is no error of the media service', async () => {
  const proxy = createServer((_request, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'))
  await new Promise<void>(listening => proxy.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void proxy.close())

  const { port } = proxy.address() as AddressInfo
  const cameras = createCameras({ url: `http://127.0.0.1:${port}`, token: undefined })
  await expect(cameras.test('rtsp://192.0.2.1/stream')).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('answered 502'),
  })
})
