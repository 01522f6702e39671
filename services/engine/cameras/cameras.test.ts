import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createCameras } from './cameras.ts'

/** Creates the cameras of an engine whose media service gives this answer to every request. */
async function createAnsweredCameras(status: number, body: string) {
  const media = createServer((_request, response) => response.writeHead(status).end(body))
  await new Promise<void>(listening => media.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void media.close())
  const { port } = media.address() as AddressInfo
  return createCameras({ url: `http://127.0.0.1:${port}`, token: undefined })
}

it.each([
  [502, '<h1>Bad Gateway</h1>', 'is no error of the media service'],
  [401, '{"code":"auth","reason":"a token is required"}', 'rejects the token of the engine'],
])(
  'a camera test reports the media service as unavailable if its answer %d %s %s',
  async (status, body) => {
    const cameras = await createAnsweredCameras(status, body)
    await expect(cameras.test('rtsp://192.0.2.1/stream')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`answered ${status}`),
    })
  },
)
