import { execFileSync } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { it, onTestFinished } from 'vitest'
import { createDesiredSource, createViewSpec } from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'

const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }

it('applies later configurations although a removed source hangs', async () => {
  const media = await serveMedia()
  const [share, clip] = [join(media.folder, 'share.mp4'), join(media.folder, 'clip.mp4')]
  makeVideo(clip, { frames: 30 })
  // Opening a pipe without a writer takes as long as a file of a network share that hangs.
  execFileSync('mkfifo', [share])
  onTestFinished(async () => (await open(share, 'r+')).close())

  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'file', url: share, views }))
  await control.apply(createDesiredSource({ id: 2, type: 'inf', url: clip, views }))
  await control.message('frame', ({ source }) => source === 2)
})
