import { join } from 'node:path'
import { createLog, listen, readEnvironment } from '@eyrie/kit'
import { expect, onTestFinished, test } from 'vitest'
import { openLocalSession } from '../../../../test/fixtures/browser/local-session.ts'
import { createDesiredSource } from '../../../../test/fixtures/media/control-client.ts'
import { receiveStream } from '../../../../test/fixtures/media/live-view.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { createManagement } from '../../management.ts'

test('a browser receives H.265 unchanged if it can play it, and H.264 otherwise', async () => {
  const media = await serveMedia()
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path, { codec: 'h265', frames: 60 })
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path, decoder: 'gst' }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
  const environment = readEnvironment({
    EYRIE_DATA: createTemporaryFolder(),
    EYRIE_MEDIA_URL: media.url,
  })
  const server = await listen(
    createManagement({ environment, log: createLog('management', 'silent') }),
    '127.0.0.1',
    0,
  )
  onTestFinished(() => server.close())
  const url = `http://127.0.0.1:${server.port}`
  const headers = await openLocalSession({ consoleUrl: url, data: environment.data })
  const codecs = async (query: string) => {
    const { info } = await receiveStream({ url, headers }, 5, `/live/streams/1/ws${query}`)
    return info.codecs
  }
  expect(await codecs('?codecs=h264,h265')).toMatch(/^hvc1\./)
  expect(await codecs('?codecs=h264')).toMatch(/^avc1\./)
  expect(await codecs('')).toMatch(/^avc1\./)
})
