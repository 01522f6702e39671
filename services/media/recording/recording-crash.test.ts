import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { recordingList } from '@eyrie/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectControl, createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { numberedShape, writeNumberedVideo } from '../../../test/fixtures/media/numbered-video.ts'
import { decodeGreyPictures } from '../../../test/fixtures/media/test-video.ts'
import { startMediaProcess } from '../../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const PATIENCE = { timeout: 60_000, interval: 50 }

it('recovers a recording up to its last complete fragment after the media service was killed', {
  timeout: 180_000,
}, async () => {
  const data = createTemporaryFolder()
  const video = join(data, 'numbered.mp4')
  await writeNumberedVideo(video, 250)
  const start = async () => {
    const media = await startMediaProcess({ EYRIE_DATA: data, EYRIE_MEDIA_ROOTS: data })
    onTestFinished(media.stop)
    return media
  }
  const recording = { mode: 'continuous', before_s: 0, after_s: 0, sound: true } as const
  const source = createDesiredSource({ id: 1, type: 'inf', url: video, recording })

  const killed = await start()
  await (await connectControl(killed.url)).apply(source)
  const folder = join(data, 'recordings', '1')
  const files = () => readdirSync(folder).map(name => join(folder, name))
  await vi.waitUntil(() => existsSync(folder) && files().length > 0, PATIENCE)
  await vi.waitUntil(() => statSync(files()[0]!).size > 20_000, PATIENCE)
  const fragment = statSync(files()[0]!).size
  await vi.waitUntil(() => statSync(files()[0]!).size > fragment, PATIENCE)
  await killed.kill()

  const [file] = files() as [string]
  // Simulates a crash in the middle of a write.
  truncateSync(file, statSync(file).size - 100)
  const whole = (await decodeGreyPictures(file, numberedShape)).length
  expect(whole).toBeGreaterThanOrEqual(25)
  const probe = spawnSync('ffprobe', [
    '-v',
    'error',
    '-count_frames',
    '-show_entries',
    'stream=nb_read_frames',
    '-of',
    'csv=p=0',
    file,
  ])
  expect(Number(String(probe.stdout).trim())).toBeGreaterThanOrEqual(25)

  const again = await start()
  const list = async () =>
    recordingList.parse(await (await fetch(`${again.url}/recordings`)).json())
  const { streams } = await vi.waitFor(async () => {
    const listed = await list()
    expect(listed.rebuilding).toBe(false)
    expect(listed.streams).toHaveLength(1)
    return listed
  }, PATIENCE)
  expect(streams).toMatchObject([
    { stream: 1, state: 'off', ranges: [{ width: 640, height: 360 }] },
  ])
  // The incomplete fragment is truncated: FFmpeg reports no error.
  expect(
    execFileSync('ffmpeg', ['-v', 'error', '-i', file, '-f', 'null', '-'], { encoding: 'utf8' }),
  ).toBe('')

  await (await connectControl(again.url)).apply(source)
  await vi.waitFor(async () => expect((await list()).streams[0]?.ranges.length).toBe(2), PATIENCE)
  expect(files()).toHaveLength(2)
})
