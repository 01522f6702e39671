// @module-tag long

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser/browser.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'

const player = join(import.meta.dirname, '../../../test/fixtures/browser/mse-player.js')

interface Played {
  codecs: string
  /** Decoded bytes. */
  sound: number
  pictures: number
  error?: string
}

it.each([
  [
    'AAC and H.264, both passed through',
    'x264enc tune=zerolatency key-int-max=25 ! h264parse',
    'avenc_aac ! aacparse',
  ],
  ['A-law and JPEG, both transcoded', 'jpegenc', 'audio/x-raw,rate=8000,channels=1 ! alawenc'],
])('plays in Chromium: %s', async (_, picture, sound) => {
  const media = await serveMedia()
  const path = join(media.folder, 'clip.mkv')
  const video = `videotestsrc num-buffers=250 ! video/x-raw,width=320,height=240,framerate=25/1 ! ${picture} ! mux.`
  const audio = `audiotestsrc samplesperbuffer=441 num-buffers=1000 ! audioconvert ! audioresample ! ${sound} ! mux.`
  const launch = `matroskamux name=mux ! filesink location=${path} ${video} ${audio}`
  execFileSync('gst-launch-1.0', ['-q', ...launch.split(' ')])
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path, decoder: 'gst' }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${media.url}/health`)
  await page.addScriptTag({ path: player })
  const ws = `${media.url.replace('http', 'ws')}/streams/1/ws?codecs=h264,aac`
  const played = await page.evaluate<Played>(`playLive(${JSON.stringify(ws)})`)
  expect(played.error).toBeUndefined()
  expect(played.codecs).toMatch(/^avc1\.[0-9a-f]{6},mp4a\.40\.2$/)
  expect(played.sound).toBeGreaterThan(1000)
  expect(played.pictures).toBeGreaterThan(1000)
})
