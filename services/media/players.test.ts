// @module-tag long

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { recordedSegmentList } from '@eyrie/contract'
import { describe, expect, it, vi } from 'vitest'
import { createDesiredSource } from '../../test/fixtures/media/control-client.ts'
import { probePackets } from '../../test/fixtures/media/live-view.ts'
import {
  continuousRecording,
  waitForRecordedSeconds,
} from '../../test/fixtures/media/recorded-stream.ts'
import { openMedia } from '../../test/fixtures/media/served-media.ts'
import { needs, type Requirement } from '../../test/fixtures/requirements/needs.ts'
import { shared } from '../../test/fixtures/setup/shared.ts'
import { readSegment } from './recording/format/segment-format.ts'

vi.setConfig({ testTimeout: 120_000 })

const FPS = 25
const CLIP_S = 4
const LIVE_S = 4
const run = promisify(execFile)

const vlcRequirement: Requirement = {
  isMet: existsSync('/usr/bin/cvlc'),
  reason: 'VLC is not installed; run apt-get install vlc-bin vlc-plugin-base',
}
/** VLC refuses to run as root. */
const asUnprivileged =
  process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

/**
 * Records and streams a source with sound. Returns the URLs for players, with the number of
 * pictures they should show.
 */
async function recordAndShow() {
  const media = await openMedia({ settings: { media: { recording: { segment_s: 3 } } } })
  const path = join(media.folder, 'clip.mkv')
  const video = `videotestsrc num-buffers=250 ! video/x-raw,format=I420,width=320,height=240,framerate=${FPS}/1 ! x264enc tune=zerolatency key-int-max=25 ! h264parse ! mux.`
  const audio = 'audiotestsrc samplesperbuffer=441 num-buffers=1000 ! avenc_aac ! aacparse ! mux.'
  const launch = `matroskamux name=mux ! filesink location=${path} ${video} ${audio}`
  execFileSync('gst-launch-1.0', ['-q', ...launch.split(' ')])
  const control = await media.connectControl()
  await control.apply(
    createDesiredSource({ id: 1, type: 'inf', url: path, recording: continuousRecording }),
  )
  const { ranges } = await waitForRecordedSeconds(media, 8)
  const { segments } = recordedSegmentList.parse(
    await (await fetch(`${media.url}/recordings/1/segments`)).json(),
  )
  const whole = segments.find(({ open, codecs }) => !open && codecs.includes('mp4a'))!
  const written = readSegment(join(media.folder, 'recordings', '1', whole.name))!
  const file = {
    url: `${media.url}/recordings/1/segments/${whole.name}`,
    pictures: written.fragments.flatMap(({ pictures }) => pictures).length,
  }
  const begin = Date.parse(ranges[0]!.from) + 2000
  const from = new Date(begin).toISOString()
  const to = new Date(begin + CLIP_S * 1000).toISOString()
  const clip = {
    url: `${media.url}/recordings/1/clip.mp4?from=${from}&to=${to}`,
    pictures: CLIP_S * FPS,
  }
  return { media, file, clip, live: `${media.url}/streams/1?codecs=h264,aac` }
}

const scene = shared(recordAndShow, ({ media }) => media.remove())

describe('FFmpeg', () => {
  /** Decodes a stream, up to the given limit. Returns the number of pictures and all warnings. */
  async function play(url: string, ...limit: string[]) {
    const progress = ['-progress', '-', '-nostats', '-v', 'warning']
    const { stdout, stderr } = await run('ffmpeg', [
      ...progress,
      '-i',
      url,
      ...limit,
      '-f',
      'null',
      '-',
    ])
    return {
      pictures: Number(
        stdout
          .match(/^frame=(\d+)$/gm)
          ?.at(-1)
          ?.slice(6),
      ),
      warnings: stderr,
    }
  }

  it('plays a recorded file, a clip and the live stream without warnings', async () => {
    const { file, clip, live } = scene
    expect(await play(file.url)).toEqual({ pictures: file.pictures, warnings: '' })
    const { pictures, warnings } = await play(clip.url)
    expect(Math.abs(pictures - clip.pictures)).toBeLessThanOrEqual(1)
    expect(warnings).toBe('')
    const played = await play(live, '-t', String(LIVE_S))
    expect(Math.abs(played.pictures - LIVE_S * FPS)).toBeLessThanOrEqual(2)
    expect(played.warnings).toBe('')
  })

  it('reads strictly increasing presentation times of video and sound', async () => {
    for (const { url } of [scene.file, scene.clip]) {
      const received = join(scene.media.folder, 'received.mp4')
      writeFileSync(received, Buffer.from(await (await fetch(url)).arrayBuffer()))
      for (const track of ['v', 'a'] as const) {
        const pts = probePackets(received, track).map(packet => packet.pts)
        expect(pts.length).toBeGreaterThan(50)
        expect(pts.every((each, i) => i === 0 || each > pts[i - 1]!)).toBe(true)
      }
    }
  })
})

describe('VLC', needs(vlcRequirement), () => {
  /** Plays a stream to dummy outputs in real time, up to its end or the limit in seconds. */
  async function play(url: string, seconds = 60) {
    const dummyOutputs = ['--no-dbus', '--vout=dummy', '--aout=dummy', '--play-and-exit']
    const limit = ['timeout', '--preserve-status', String(seconds)]
    const [program, ...args] = [
      ...limit,
      ...asUnprivileged,
      'cvlc',
      '-vv',
      ...dummyOutputs,
      url,
      'vlc://quit',
    ]
    const environment = { PATH: process.env.PATH, HOME: '/nonexistent' }
    const { stderr } = await run(program!, args, { env: environment, maxBuffer: 1 << 26 })
    return {
      hasPicture: stderr.includes('Received first picture'),
      hasSound:
        stderr.includes('audio output debug: using audio output module') ||
        /main audio output debug: conversion/.test(stderr),
      errors: stderr.match(/^.*(demux|decoder|packetizer|stream|input|output) error.*$/gm) ?? [],
    }
  }

  it('plays a recorded file, a clip and the live stream without errors', async () => {
    const success = { hasPicture: true, hasSound: true, errors: [] }
    expect(await play(scene.file.url)).toEqual(success)
    expect(await play(scene.clip.url)).toEqual(success)
    expect(await play(scene.live, 2 * LIVE_S)).toEqual(success)
  })
})
