import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../../test/fixtures/media/test-video.ts'
import { chooseDemuxer, HEAD_BYTES } from './demuxer.ts'

it.each([
  ['mp4', 'qtdemux'],
  ['mov', 'qtdemux'],
  ['mkv', 'matroskademux'],
  ['ts', 'tsdemux'],
  ['flv', 'flvdemux'],
  ['avi', 'avidemux'],
  ['h264', 'parsebin'],
])('a .%s file is read by %s, without losing frames', async (extension, demuxer) => {
  const media = await serveMedia()
  const clip = join(media.folder, 'clip.mp4')
  const path = join(media.folder, `clip.${extension}`)
  makeVideo(clip)
  if (extension !== 'mp4') execFileSync('ffmpeg', ['-v', 'error', '-i', clip, '-c', 'copy', path])
  expect(chooseDemuxer(readFileSync(path).subarray(0, HEAD_BYTES))).toBe(demuxer)

  const control = await media.connectControl()
  const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
  await control.apply(createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all', views }))
  control.send({ type: 'grant', source: 1, view: 'grey', n: 1000 })
  const { codec } = await control.waitForStatus(1, ({ state }) => state === 'ended')
  expect(codec).toBe('h264')
  expect(await media.readMetric('eyrie_media_frames_total', '{source="1"}')).toBe(30)
})
