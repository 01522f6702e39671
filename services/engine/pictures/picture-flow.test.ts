import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { listen } from '@eyrie/kit'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { numberedShape, writeNumberedVideo } from '../../../test/fixtures/media/numbered-video.ts'
import { startMediaProcess } from '../../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const EVENT_AT = 40

test('an event refers to the picture of exactly its frame, which is stored and served', async () => {
  const folder = createTemporaryFolder()
  const video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, 200)
  const found = `events: n === ${EVENT_AT} ? [{ type: 'found' }] : []`
  writePlugin(join(folder, 'plugins'), {
    name: 'find',
    open: `return { process: ({ n }: { n: number }) => ({ ${found} }) }`,
  })
  const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  onTestFinished(() => media.stop())
  const { engine, call } = await startEngine(join(folder, 'data'), {
    EYRIE_MEDIA_URL: media.url,
    EYRIE_MEDIA_ROOTS: folder,
    EYRIE_PLUGINS: join(folder, 'plugins'),
  })
  onTestFinished(() => engine.stop())
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(() => server.close())

  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/v3/output?kinds=event,picture`)
  const illustrated = new Promise<{ data: { picture: string } }>(resolve =>
    socket.on('message', text => {
      // On a slow machine the picture follows the event.
      const message = JSON.parse(String(text))
      if (message.data?.picture) resolve(message)
    }),
  )
  const source = (await call('POST', '/sources', { type: 'file', address: video })).body.id
  await call('POST', '/pipelines', { elements: [{ name: 'find' }], sources: [source] })
  const { picture } = (await illustrated).data

  const response = await engine.app.request(`/api/v3/pictures/${picture}`)
  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'image/jpeg'])
  const jpeg = Buffer.from(await response.arrayBuffer())
  expect(createHash('sha256').update(jpeg).digest('hex')).toBe(picture)
  expect(await numberIn(jpeg)).toBe(EVENT_AT - 1)
  for (const other of ['0'.repeat(64), 'no-hash', '..%2Factivation.json']) {
    expect((await call('GET', `/pictures/${other}`)).status).toBe(404)
  }
})

/** The number that a picture of the numbered video shows. */
async function numberIn(jpeg: Buffer): Promise<number> {
  const launch = 'fdsrc ! jpegdec ! videoconvert ! video/x-raw,format=GRAY8 ! fdsink'
  const gst = spawn('gst-launch-1.0', ['-q', ...launch.split(' ')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(gst, 'exit')
  gst.stdin.end(jpeg)
  const pixels = await buffer(gst.stdout)
  await ended
  const { bits, block, width } = numberedShape
  const middle = (bit: number) => pixels[(block / 2) * width + bit * block + block / 2]!
  return Array.from({ length: bits }, (_, bit) => (middle(bit) > 127 ? 1 << bit : 0)).reduce(
    (a, b) => a + b,
  )
}
